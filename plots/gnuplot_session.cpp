#include "plots/gnuplot_session.h"

#include "plots/characters.h"
#include "src/output/escape.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <iomanip>
#include <ios>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <gnuplot-iostream.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skid::plots {
namespace {

/// The descriptor under which gnuplot finds the file for its figure.
constexpr int kFigureDescriptor = 3;

[[noreturn]] void fail(const char* what, int error) {
  throw Error(fmt::format("gnuplot: {}: {}", what, std::generic_category().message(error)));
}

/// A write to a gnuplot that has ended raises SIGPIPE, whose default would end us without a word.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
  SigpipeBlocked(SigpipeBlocked&&) = delete;
  SigpipeBlocked& operator=(SigpipeBlocked&&) = delete;
  ~SigpipeBlocked() {
    const timespec now{};
    while (sigtimedwait(&sigpipe_, nullptr, &now) == SIGPIPE) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  const sigset_t& before() const { return before_; }

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
};

/// The same file under a number that no redirection of the child overwrites, even where our own
/// standard streams were closed and their numbers are in use again.
FileDescriptor duplicate(int fd) {
  FileDescriptor high(fcntl(fd, F_DUPFD_CLOEXEC, kFigureDescriptor + 1));
  if (!high) fail("no descriptor", errno);
  return high;
}

FileDescriptor out_of_the_way(int fd) {
  const FileDescriptor low(fd);
  return duplicate(fd);
}

FileDescriptor memory_file(const char* name) {
  const int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) fail("no file in memory", errno);
  return out_of_the_way(fd);
}

std::string content_of(const FileDescriptor& file) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0) fail("its output", errno);
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t count =
        pread(file.get(), content.data() + done, content.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  content.resize(done);
  return content;
}

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// posix_spawn's two handles.
class SpawnSettings {
 public:
  SpawnSettings() {
    if (const int error = posix_spawn_file_actions_init(&actions_)) fail("cannot start", error);
    if (const int error = posix_spawnattr_init(&attributes_)) {
      posix_spawn_file_actions_destroy(&actions_);
      fail("cannot start", error);
    }
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  SpawnSettings(SpawnSettings&&) = delete;
  SpawnSettings& operator=(SpawnSettings&&) = delete;
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }

  void redirect(int from, int to) {
    if (const int error = posix_spawn_file_actions_adddup2(&actions_, from, to)) {
      fail("cannot start", error);
    }
  }
  void discard_standard_output() {
    if (const int error =
            posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)) {
      fail("cannot start", error);
    }
  }
  /// gnuplot is to have the signals that we had before SIGPIPE was blocked.
  void signals(const sigset_t& mask) {
    posix_spawnattr_setsigmask(&attributes_, &mask);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }

  pid_t spawn(const std::string& program) {
    // -d: the user's own gnuplotrc must not change figures.
    std::string name = "gnuplot";
    std::string defaults = "-d";
    std::array<char*, 3> argv{name.data(), defaults.data(), nullptr};
    pid_t pid = -1;
    const int error =
        posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv.data(), environ);
    if (error) fail("cannot start", error);
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// A started gnuplot, which ends once its standard input does.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (pid_ > 0) wait();
  }

  ExitCode wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    ExitCode code;
    if (WIFSIGNALED(status)) code.signal = WTERMSIG(status);
    if (WIFEXITED(status)) code.status = WEXITSTATUS(status);
    return code;
  }

 private:
  pid_t pid_;
};

/// gnuplot repeats the command, points at a column, and then says "line 0: what is wrong".
std::string message_of(const std::string& standard_error) {
  std::istringstream lines(standard_error);
  std::string message;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\"");
    if (begin == std::string::npos || line[begin] == '^') continue;
    message = line.substr(begin);
    if (message.rfind("line ", 0) == 0) break;
  }
  constexpr std::size_t kLongest = 200;
  return output::escape_for_terminal(std::string_view(message).substr(0, kLongest));
}

void check(const Terminal& terminal, const ExitCode& code, const std::string& standard_error,
           const std::string& figure) {
  if (standard_error.find("unknown or ambiguous terminal") != std::string::npos) {
    throw Error(
        fmt::format("gnuplot: has no terminal {}; install the package gnuplot-nox", terminal.name));
  }
  const std::string message = message_of(standard_error);
  if (!code.success()) {
    throw Error(
        fmt::format("gnuplot: {}{}{}", describe(code), message.empty() ? "" : ": ", message));
  }
  if (figure.empty()) {
    throw Error(fmt::format("gnuplot: drew nothing{}{}", message.empty() ? "" : ": ", message));
  }
}

}  // namespace

std::string gnuplot_string(std::string_view text) {
  std::string result = "'";
  for (const char character : drawable(text, Fonts::of_viewers)) {
    if (character == '\'') {
      result += "\u2019";
    } else if (character == '>' && result.ends_with("]]")) {
      result += "\\x3e";
    } else {
      result += character;
    }
  }
  return result + '\'';
}

std::string record(const std::function<void(gnuplotio::Gnuplot&)>& write) {
  const FileDescriptor commands = memory_file("gnuplot-commands");
  FileDescriptor end = duplicate(commands.get());
  Stream stream(fdopen(end.get(), "w"), &std::fclose);
  if (!stream) fail("no stream", errno);
  [[maybe_unused]] const int owned_by_stream = end.release();
  {
    gnuplotio::Gnuplot gnuplot(stream.get());
    [[maybe_unused]] const std::FILE* owned_by_gnuplot = stream.release();
    // As people write numbers, in as many digits as any pixel takes.
    gnuplot << std::defaultfloat << std::setprecision(12);
    write(gnuplot);
  }
  return content_of(commands);
}

std::string draw(const Terminal& terminal, const std::function<void(gnuplotio::Gnuplot&)>& write) {
  const auto program = find_program("gnuplot");
  if (!program) {
    throw Error("gnuplot: not found in PATH; install the package gnuplot-nox");
  }
  const FileDescriptor figure = memory_file("skidscan-figure");
  const FileDescriptor errors = memory_file("gnuplot-stderr");
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) fail("no pipe", errno);
  FileDescriptor write_end(ends[1]);
  FileDescriptor read_end = out_of_the_way(ends[0]);

  Stream commands(fdopen(write_end.get(), "w"), &std::fclose);
  if (!commands) fail("no stream", errno);
  [[maybe_unused]] const int owned_by_stream = write_end.release();

  const SigpipeBlocked sigpipe;
  SpawnSettings settings;
  settings.redirect(read_end.get(), STDIN_FILENO);
  settings.discard_standard_output();
  settings.redirect(errors.get(), STDERR_FILENO);
  settings.redirect(figure.get(), kFigureDescriptor);
  settings.signals(sigpipe.before());
  Child child(settings.spawn(program->string()));
  read_end = FileDescriptor();

  {
    // Closed at the end of this block whatever happens, or gnuplot would be waited for forever.
    Stream stream = std::move(commands);
    gnuplotio::Gnuplot gnuplot(stream.get());
    [[maybe_unused]] const std::FILE* owned_by_gnuplot = stream.release();
    gnuplot << "set encoding utf8\n"
            << "set terminal " << terminal.name << ' ' << terminal.options << '\n'
            << "set output '/dev/fd/" << kFigureDescriptor << "'\n";
    write(gnuplot);
    gnuplot << "\nunset output\n";
  }
  const ExitCode code = child.wait();
  std::string content = content_of(figure);
  check(terminal, code, content_of(errors), content);
  return content;
}

}  // namespace skid::plots
