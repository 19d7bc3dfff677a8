#include "src/support/process.h"

#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skid {

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::size_t kMostOutput = std::size_t{16} << 20;

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

/// Moves a descriptor above the standard ones. Otherwise, if this program was started with a
/// standard stream closed, one of the child's dup2 calls could close the source of another.
FileDescriptor above_standard(FileDescriptor file) {
  if (file.get() > STDERR_FILENO) return file;
  return FileDescriptor(::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Error not_started(std::string_view program, int error) {
  return Error("{}: cannot be started: {}", program, describe_errno(error));
}

Pipe make_pipe(std::string_view program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw not_started(program, errno);
  Pipe pipe{above_standard(FileDescriptor(ends[0])), above_standard(FileDescriptor(ends[1]))};
  if (!pipe.read_end || !pipe.write_end) throw not_started(program, errno);
  // Only this end: the program must have an ordinary blocking pipe.
  ::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

struct Destroy {
  void operator()(posix_spawn_file_actions_t* actions) const noexcept {
    ::posix_spawn_file_actions_destroy(actions);
  }
  void operator()(posix_spawnattr_t* attributes) const noexcept {
    ::posix_spawnattr_destroy(attributes);
  }
};

/// Sets the process group (0: a new one), no blocked signals and default handlers. The program
/// would otherwise inherit an ignored SIGINT, and perf could not be interrupted.
void set_up(posix_spawnattr_t* attributes, pid_t group) {
  ::posix_spawnattr_init(attributes);
  ::posix_spawnattr_setflags(
      attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawnattr_setpgroup(attributes, group);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(attributes, &signals);
  ::sigfillset(&signals);
  ::posix_spawnattr_setsigdefault(attributes, &signals);
}

/// Returns pointers for posix_spawn, which requires mutable characters, though it changes none.
std::vector<char*> pointers_to(std::vector<std::string>& argv) {
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Reads once from a pipe, which is closed at its end; false when there was nothing to read. Only
/// one read per call, so that the deadline is met even if a program never stops writing.
bool read_some(FileDescriptor& pipe, std::string& into) {
  std::array<char, 65536> buffer;
  while (pipe) {
    const ssize_t count = ::read(pipe.get(), buffer.data(), buffer.size());
    if (count > 0) {
      const std::size_t room = kMostOutput - into.size();
      into.append(buffer.data(), std::min(static_cast<std::size_t>(count), room));
      return true;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return false;
    pipe = FileDescriptor();
  }
  return false;
}

/// Restores the default of SIGCHLD. An ignored SIGCHLD is inherited through exec, and with it the
/// kernel discards exit statuses.
void keep_exit_statuses() {
  struct sigaction action {};
  if (::sigaction(SIGCHLD, nullptr, &action) != 0 || action.sa_handler != SIG_IGN) return;
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, nullptr);
}

/// Starts the leader of a process group, which kills the group when `alive` is closed: at the
/// latest when this process ends, in any way. A parent-death signal (prctl) would not reach the
/// programs that the program starts, nor a program with file capabilities, which perf may have.
pid_t start_leader(const std::string& program, FileDescriptor& alive) {
  Pipe pipe = make_pipe(program);
  const pid_t leader = ::fork();
  if (leader < 0) throw not_started(program, errno);
  ::setpgid(leader, leader);  // by both processes, as either can be the first
  if (leader > 0) {
    alive = std::move(pipe.write_end);
    return leader;
  }
  sigset_t signals;
  ::sigfillset(&signals);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);  // signals are for the program
  pipe.write_end = FileDescriptor();
  pollfd end{pipe.read_end.get(), POLLIN, 0};
  while (::poll(&end, 1, -1) < 0) {
  }
  ::kill(0, SIGKILL);
  ::_exit(1);
}

bool is_executable_file(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

/// Returns PATH, or the directories that execvp searches if it is not set.
std::string search_path() {
  // Nothing here calls setenv, so reading the environment is safe.
  if (const char* path = std::getenv("PATH")) return path;
  std::string standard(::confstr(_CS_PATH, nullptr, 0), '\0');
  ::confstr(_CS_PATH, standard.data(), standard.size());
  while (!standard.empty() && standard.back() == '\0') standard.pop_back();
  return standard;
}

}  // namespace

void raise_open_file_limit() noexcept {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  // If it is refused, files beyond the limit are reported as files that cannot be opened.
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

std::vector<std::string> own_command_line() {
  constexpr std::uint64_t kMost = 4 << 20;
  std::vector<std::string> arguments;
  const std::string text = read_file("/proc/self/cmdline", kMost);
  for (std::string_view rest = text; !rest.empty();) arguments.emplace_back(take_until('\0', rest));
  return arguments;
}

std::string describe(const ExitCode& code) {
  if (code.signal == 0) return fmt::format("exit status {}", code.status);
  return fmt::format("killed by signal {} ({})", code.signal, ::strsignal(code.signal));
}

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const fs::path& directory,
                           Survival survival) {
  if (argv.empty()) throw Error("a program to start was not named");
  keep_exit_statuses();
  Pipe out = make_pipe(argv[0]);
  Pipe err = make_pipe(argv[0]);

  posix_spawn_file_actions_t started_with{};
  ::posix_spawn_file_actions_init(&started_with);
  const std::unique_ptr<posix_spawn_file_actions_t, Destroy> actions(&started_with);
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), out.write_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(actions.get(), err.write_end.get(), STDERR_FILENO);
  if (!directory.empty()) ::posix_spawn_file_actions_addchdir_np(actions.get(), directory.c_str());
  if (survival == Survival::is_killed) group_ = start_leader(argv[0], alive_);
  posix_spawnattr_t set{};
  set_up(&set, group_);
  const std::unique_ptr<posix_spawnattr_t, Destroy> attributes(&set);
  std::vector<std::string> arguments = argv;
  const std::vector<char*> pointers = pointers_to(arguments);
  // find_program() is used instead of posix_spawnp, which searches the current directory for empty
  // elements of PATH. The path is absolute because the program starts in another directory.
  const bool is_path = contains(argv[0], '/');
  const auto found = is_path ? std::optional<fs::path>(argv[0]) : find_program(argv[0]);
  const fs::path program = found && !is_path ? fs::absolute(*found) : fs::path(argv[0]);
  const int error = found ? ::posix_spawn(&pid_, program.c_str(), actions.get(), attributes.get(),
                                          pointers.data(), environ)
                          : ENOENT;
  if (error != 0) throw not_started(argv[0], error);
  if (group_ == 0) group_ = pid_;
  pidfd_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  out_ = std::move(out.read_end);
  err_ = std::move(err.read_end);
}

ChildProcess::~ChildProcess() {
  if (!ended_) {
    signal_group(SIGKILL);
    reap();
  }
}

bool ChildProcess::has_ended() const {
  // WNOWAIT keeps it as a zombie, so that its process group can still be signalled.
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

bool ChildProcess::wait(milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + timeout;
  while (!ended_) {
    read_some(out_, result_.out);
    read_some(err_, result_.err);
    if (has_ended()) {
      signal_group(SIGKILL);
      reap();
      while (read_some(out_, result_.out)) {
      }
      while (read_some(err_, result_.err)) {
      }
      break;
    }
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left <= milliseconds::zero()) return false;
    // Without a pidfd the end of the program does not wake poll(), so it is checked every 10 ms.
    const milliseconds slice = std::min(left, pidfd_ ? milliseconds{60'000} : milliseconds{10});
    std::array<pollfd, 3> watched{{{out_.get(), POLLIN, 0},
                                   {err_.get(), POLLIN, 0},
                                   {pidfd_.get(), POLLIN, 0}}};  // poll skips negative descriptors
    if (::poll(watched.data(), watched.size(), static_cast<int>(slice.count())) < 0) return false;
  }
  return true;
}

void ChildProcess::signal_group(int signal) noexcept {
  if (!ended_) ::kill(-group_, signal);
}

void ChildProcess::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
  if (group_ != pid_) ::waitpid(group_, nullptr, 0);  // killed with the group
  if (WIFSIGNALED(status)) {
    result_.code.signal = WTERMSIG(status);
  } else {
    result_.code.status = WEXITSTATUS(status);
  }
}

Completed run_program(const std::vector<std::string>& argv, const fs::path& working_directory) {
  ChildProcess process(argv, working_directory);
  while (!process.wait(std::chrono::minutes{1})) {
  }
  return process.result();
}

std::vector<std::string> program_directories() {
  std::vector<std::string> directories;
  const std::string path = search_path();
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view directory = take_until(':', rest);
    if (!directory.empty()) directories.emplace_back(directory);
  }
  return directories;
}

std::optional<fs::path> find_program(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (contains(name, '/')) {
    const fs::path path(name);
    return is_executable_file(path) ? std::optional(path) : std::nullopt;
  }
  for (const std::string& directory : program_directories()) {
    const fs::path candidate = fs::path(directory) / name;
    if (is_executable_file(candidate)) return candidate;
  }
  return std::nullopt;
}

std::string shell_quoted(const std::vector<std::string>& argv) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  std::string line;
  for (const std::string& argument : argv) {
    if (!line.empty()) line += ' ';
    if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string::npos) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace skid
