// Programs started without a shell: arguments as a vector, output caught.
#pragma once

#include "src/support/file.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace skid {

/// Lets this program, and those that it starts, have as many files open as the system allows
/// (`ulimit -H -n`); the usual 1024 are fewer than a recording of a whole machine names.
void raise_open_file_limit() noexcept;

/// The command line of this process. The kernel keeps it; the parser of the arguments does not.
std::vector<std::string> own_command_line();

/// How a program ended.
struct ExitCode {
  int status = 0;  ///< exit status, when signal is 0
  int signal = 0;  ///< the signal that ended it, or 0

  bool success() const noexcept { return status == 0 && signal == 0; }
};

/// "exit status 3" or "killed by signal 9 (Killed)".
std::string describe(const ExitCode& code);

/// The results of a finished program.
struct Completed {
  ExitCode code;
  std::string out;  ///< standard output
  std::string err;  ///< standard error
};

/// What becomes of a program when this process is killed.
enum class Survival { continues, is_killed };

/// A running program with its standard output and error caught through pipes and its standard
/// input at /dev/null. It has a process group of its own, so that a Ctrl-C of the terminal
/// reaches only us and we decide what to do about it. What is left of the group when the program
/// ends is killed, and so is all of it by the destructor.
class ChildProcess {
 public:
  /// Starts argv[0], looked up in PATH. Throws Error when it cannot be started.
  explicit ChildProcess(const std::vector<std::string>& argv,
                        const std::filesystem::path& working_directory = {},
                        Survival survival = Survival::continues);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t pid() const noexcept { return pid_; }

  /// Reads output for at most `timeout`, also interrupted by a signal; true once the program has
  /// ended and `result()` is complete. Output beyond 16 MiB a stream is read and dropped.
  bool wait(std::chrono::milliseconds timeout);

  /// Sends `signal` to the whole process group of the program.
  void signal_group(int signal) noexcept;

  /// The output that was caught so far; complete after `wait` returned true.
  const Completed& result() const noexcept { return result_; }

 private:
  bool has_ended() const;
  void reap();

  pid_t pid_ = -1;
  pid_t group_ = 0;       ///< its leader is the program, or waits for the end of this process
  FileDescriptor alive_;  ///< that the leader waits for
  FileDescriptor pidfd_;  ///< readable once the program has ended; none before Linux 5.3
  FileDescriptor out_;
  FileDescriptor err_;
  bool ended_ = false;
  Completed result_;
};

/// Runs a program to its end. Throws Error only when it cannot be started.
Completed run_program(const std::vector<std::string>& argv,
                      const std::filesystem::path& working_directory = {});

/// The elements of PATH, but empty ones: these mean the current directory, whose programs are not
/// trusted.
std::vector<std::string> program_directories();

/// Where PATH finds an executable regular file of this name; nullopt when it does not. A name with
/// a slash is taken as a path.
std::optional<std::filesystem::path> find_program(std::string_view name);

/// The words in one line, quoted where a POSIX shell needs it: for people, and for kits' scripts.
std::string shell_quoted(const std::vector<std::string>& argv);

}  // namespace skid
