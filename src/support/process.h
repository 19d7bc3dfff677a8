// Programs started without a shell: arguments as a vector, output caught.
#pragma once

#include "src/support/file_descriptor.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace skid {

/// Raises RLIMIT_NOFILE to its hard limit (`ulimit -H -n`), for this program and those that it
/// starts. The usual 1024 open files are fewer than a recording of a whole machine names.
void raise_open_file_limit() noexcept;

/// Returns the command line of this process, which the kernel keeps.
std::vector<std::string> own_command_line();

/// How a program ended.
struct ExitCode {
  int status = 0;  ///< exit status, when signal is 0
  int signal = 0;  ///< the signal that ended it, or 0

  bool success() const noexcept { return status == 0 && signal == 0; }
};

/// Returns "exit status 3" or "killed by signal 9 (Killed)".
std::string describe(const ExitCode& code);

/// The results of a finished program.
struct Completed {
  ExitCode code;
  std::string out;  ///< standard output
  std::string err;  ///< standard error
};

/// What becomes of a program when this process is killed.
enum class Survival { continues, is_killed };

/// A running program, whose standard output and error are caught through pipes and whose standard
/// input is /dev/null. It has its own process group, so that Ctrl-C on the terminal reaches only
/// this process, which decides what to do. Other processes of the group are killed when the program
/// ends. The destructor kills the whole group.
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

  /// Reads output for at most `timeout`, or until a signal interrupts it. True once the program has
  /// ended and `result()` is complete. Output beyond 16 MiB per stream is read and dropped.
  bool wait(std::chrono::milliseconds timeout);

  /// Sends `signal` to the whole process group of the program.
  void signal_group(int signal) noexcept;

  /// Returns the output caught so far; complete after `wait` returned true.
  const Completed& result() const noexcept { return result_; }

 private:
  bool has_ended() const;
  void reap();

  pid_t pid_ = -1;
  pid_t group_ = 0;  ///< led by the program, or by a process that waits for the end of this one
  FileDescriptor alive_;  ///< the leader of the group waits until it is closed
  FileDescriptor pidfd_;  ///< readable once the program has ended; empty before Linux 5.3
  FileDescriptor out_;
  FileDescriptor err_;
  bool ended_ = false;
  Completed result_;
};

/// Runs a program to its end. Throws Error only when it cannot be started.
Completed run_program(const std::vector<std::string>& argv,
                      const std::filesystem::path& working_directory = {});

/// Returns the elements of PATH except empty ones, which mean the current directory: its programs
/// are not trusted.
std::vector<std::string> program_directories();

/// Searches the directories of PATH for an executable regular file of this name; nullopt if there
/// is none. A name with a slash is a path.
std::optional<std::filesystem::path> find_program(std::string_view name);

/// Returns the words in one line, quoted where a POSIX shell needs it. command_text()
/// is for messages.
std::string shell_quoted(const std::vector<std::string>& argv);

}  // namespace skid
