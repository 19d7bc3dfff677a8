
#include "src/support/process.h"

#include "src/support/error.h"
#include "src/support/file.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/variable.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skid {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

bool runs(pid_t pid) {
  return ::kill(pid, 0) == 0;
}

/// A process that was killed stays visible until its new parent reaps it.
bool runs_no_longer(pid_t pid) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    if (!runs(pid)) return true;
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(status, text);
    if (text.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(Process, CapturesBothStreamsAndTheExitStatus) {
  const Completed done = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(done.out, "out\n");
  EXPECT_EQ(done.err, "err\n");
  EXPECT_EQ(done.code.status, 3);
  EXPECT_EQ(done.code.signal, 0);
  EXPECT_FALSE(done.code.success());
}

TEST(Process, CapturesMoreThanThePipesCapacity) {
  const Completed done =
      run_program({"sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"});
  EXPECT_EQ(done.out.size(), 1'000'000U);
  EXPECT_EQ(done.err.size(), 1'000'000U);
  EXPECT_TRUE(done.code.success());
}

TEST(Process, DropsOutputBeyondSixteenMebibytes) {
  const Completed done = run_program({"head", "-c", "20000000", "/dev/zero"});
  EXPECT_EQ(done.out.size(), std::size_t{16} << 20);
  EXPECT_TRUE(done.code.success());
}

TEST(Process, ReportsTheSignalThatEndedAProgram) {
  const Completed done = run_program({"sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(done.code.signal, SIGTERM);
  EXPECT_FALSE(done.code.success());
  EXPECT_EQ(describe(done.code), "killed by signal 15 (Terminated)");
  EXPECT_EQ(describe(ExitCode{3, 0}), "exit status 3");
}

TEST(Process, HasItsArgumentsAndDirectoryAndNoStandardInput) {
  EXPECT_EQ(run_program({"printf", "%s|", "a b", "$(id)", "", "*"}).out, "a b|$(id)||*|");
  EXPECT_EQ(run_program({"pwd"}, "/usr").out, "/usr\n");
  EXPECT_EQ(run_program({"cat"}).out, "");
}
TEST(Process, LeadsAGroupOfItsOwn) {
  ChildProcess child({"sleep", "60"});
  EXPECT_EQ(::getpgid(child.pid()), child.pid());
}

/// Runs a script of the shell while this process ignores a signal.
Completed run_ignoring(int signal, const std::string& script) {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction before {};
  EXPECT_EQ(::sigaction(signal, &ignore, &before), 0);
  Completed done = run_program({"sh", "-c", script});
  EXPECT_EQ(::sigaction(signal, &before, nullptr), 0);
  return done;
}

TEST(Process, HasDefaultSignalsAndItsExitStatusWhereTheyAreIgnored) {
  const Completed done = run_ignoring(SIGINT, "kill -INT $$; echo survived");
  EXPECT_EQ(done.code.signal, SIGINT);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(run_ignoring(SIGCHLD, "exit 7").code.status, 7);
}

TEST(Process, WaitReturnsAtItsDeadlineWhateverTheProgramDoes) {
  for (const std::vector<std::string>& program :
       {std::vector<std::string>{"sleep", "60"}, {"cat", "/dev/zero"}}) {
    ChildProcess child(program);
    const auto begin = steady_clock::now();
    EXPECT_FALSE(child.wait(milliseconds(50)));
    const auto waited = steady_clock::now() - begin;
    EXPECT_GE(waited, milliseconds(50)) << program[0];
    EXPECT_LT(waited, seconds(20)) << program[0];
  }
}

TEST(Process, WaitSeesTheEndOfAProgramThatClosedItsOutputFirst) {
  ChildProcess child({"sh", "-c", "exec >&- 2>&-; sleep 0.1; exit 5"});
  while (!child.wait(seconds(10))) {
  }
  EXPECT_EQ(child.result().code.status, 5);
}

TEST(Process, WaitDoesNotWaitForAGrandchildWithOpenPipes) {
  const auto begin = steady_clock::now();
  const Completed done = run_program({"sh", "-c", "sleep 60 & echo $!"});
  EXPECT_LT(steady_clock::now() - begin, seconds(20));
  EXPECT_TRUE(runs_no_longer(std::stoi(done.out)));
}

TEST(Process, SignalsTheWholeGroup) {
  ChildProcess child({"sh", "-c", "sleep 60; echo survived"});
  EXPECT_FALSE(child.wait(milliseconds(50)));
  child.signal_group(SIGINT);
  while (!child.wait(seconds(10))) {
  }
  EXPECT_EQ(child.result().code.signal, SIGINT);
}

TEST(Process, KillsTheGroupWhenDestroyed) {
  pid_t grandchild = 0;
  {
    ChildProcess child({"sh", "-c", "sleep 60 & echo $!; wait"});
    while (child.result().out.find('\n') == std::string::npos) {
      ASSERT_FALSE(child.wait(milliseconds(20)));
    }
    grandchild = std::stoi(child.result().out);
    EXPECT_TRUE(runs(grandchild));
  }
  EXPECT_TRUE(runs_no_longer(grandchild));
}

/// A process that waits, with a program that is killed with it and has started another one.
class ProcessWithProgram {
 public:
  ProcessWithProgram() {
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ChildProcess child({"sh", "-c", "trap '' INT TERM; sleep 60 & echo $! >pid; wait"},
                         directory_.path(), Survival::is_killed);
      while (!fs::exists(directory_ / "pid") || fs::file_size(directory_ / "pid") == 0) {
        child.wait(milliseconds(1));
      }
      child.signal_group(SIGINT);
      const std::array<pid_t, 2> pids{child.pid(), ::getpgid(child.pid())};
      if (::write(pipe[1], pids.data(), sizeof pids) < 0) ::_exit(1);
      for (;;) ::pause();
    }
    EXPECT_EQ(::read(pipe[0], pids_.data(), sizeof pids_), static_cast<ssize_t>(sizeof pids_));
    for (const int end : pipe) ::close(end);
  }
  ProcessWithProgram(const ProcessWithProgram&) = delete;
  ProcessWithProgram& operator=(const ProcessWithProgram&) = delete;
  ProcessWithProgram(ProcessWithProgram&&) = delete;
  ProcessWithProgram& operator=(ProcessWithProgram&&) = delete;
  ~ProcessWithProgram() = default;

  void kill() const {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t program() const { return pids_[0]; }
  pid_t leader() const { return pids_[1]; }
  pid_t started_by_program() const { return std::stoi(read_file(directory_ / "pid", 100)); }

 private:
  test::TemporaryDirectory directory_;
  pid_t pid_ = -1;
  std::array<pid_t, 2> pids_{};
};

TEST(Process, KillsTheGroupWhenItIsKilled) {
  const ProcessWithProgram process;
  const pid_t started = process.started_by_program();
  for (const pid_t pid : {process.program(), process.leader(), started}) {
    EXPECT_TRUE(runs(pid));
    EXPECT_EQ(::getpgid(pid), process.leader());
  }
  process.kill();
  for (const pid_t pid : {process.program(), process.leader(), started}) {
    EXPECT_TRUE(runs_no_longer(pid));
  }
}

TEST(Process, LeavesNoLeaderOfItsGroup) {
  ChildProcess child({"sleep", "60"}, {}, Survival::is_killed);
  const pid_t leader = ::getpgid(child.pid());
  EXPECT_NE(leader, child.pid());
  child.signal_group(SIGTERM);
  while (!child.wait(seconds(10))) {
  }
  EXPECT_EQ(child.result().code.signal, SIGTERM);
  EXPECT_FALSE(runs(leader));
}

TEST(Process, NamesTheProgramThatCannotBeStarted) {
  EXPECT_THAT(test::message_of([] { run_program({"skidscan-no-such-program"}); }),
              HasSubstr("skidscan-no-such-program: cannot be started: no such"));
}

TEST(FindProgram, FindsExecutableFilesInPath) {
  const auto shell = find_program("sh");
  ASSERT_TRUE(shell.has_value());
  EXPECT_TRUE(shell->is_absolute());
  EXPECT_EQ(shell->filename(), "sh");
  for (const char* name : {"skidscan-no-such-program", "/usr", "/etc/passwd", ""}) {
    EXPECT_EQ(find_program(name), std::nullopt) << name;
  }
}

TEST(FindProgram, TakesNoneFromTheCurrentDirectory) {
  const test::TemporaryDirectory directory;
  fs::create_symlink("/bin/true", directory / "skidscan-local-program");
  const std::string path = std::getenv("PATH");
  const fs::path before = fs::current_path();
  fs::current_path(directory.path());
  const test::Variable with_empty_parts("PATH", ":" + path + ":");
  EXPECT_EQ(find_program("skidscan-local-program"), std::nullopt);
  EXPECT_THROW(run_program({"skidscan-local-program"}), Error);
  fs::current_path(before);
}

TEST(ShellQuoted, QuotesEveryCharacter) {
  for (const std::string& word :
       {std::string("plain"), std::string(), std::string("it's"), std::string("'"),
        std::string("a b\tc"), std::string("$(touch /x) `y` \\ \" * ; & | # ~ !"),
        std::string("line\nbreak"), std::string("-n"), std::string("\xc3\xa4\xff")}) {
    const Completed done = run_program({"sh", "-c", "printf '%s|' " + shell_quoted({word})});
    EXPECT_EQ(done.out, word + "|");
  }
}

TEST(ShellQuoted, IsParsedByAShellAsTheSameArguments) {
  const std::vector<std::string> argv = {"printf", "%s|", "it's", "a b", "", "$HOME", "-e", "x\ny"};
  EXPECT_EQ(run_program({"sh", "-c", shell_quoted(argv)}).out, "it's|a b||$HOME|-e|x\ny|");
  EXPECT_EQ(run_program(argv).out, "it's|a b||$HOME|-e|x\ny|");
  EXPECT_EQ(shell_quoted({"perf", "record", "-e", "mem:0x403000/8:rw"}),
            "perf record -e mem:0x403000/8:rw");
}

}  // namespace
}  // namespace skid
