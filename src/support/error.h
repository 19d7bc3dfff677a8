// The errors that reach the user: what is wrong, where, and what to do about it.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace skid {

/// The exit statuses of the program; docs/formats.md lists them for scripts.
enum class ExitStatus : int {
  done = 0,
  failed = 1,
  read_in_part = 2,
  builtin_events_only = 3,
  gate_failed = 4,
  nothing_judged = 5,
  usage = 64,
  interrupted = 130,  ///< by SIGINT; other signals as status_of_signal() returns
};

/// Returns the exit status of a program that a signal ended, as shells do.
constexpr ExitStatus status_of_signal(int signal) {
  return static_cast<ExitStatus>(128 + signal);
}

/// A failure. The message is one line in lower case that names its subject first
/// and ends with the remedy, if any. `main` prints it and exits with `status()`.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitStatus status = ExitStatus::failed)
      : std::runtime_error(message), status_(status) {}
  /// Makes the message by fmt::format() from `text` and the values.
  template <typename First, typename... Rest>
  requires(!std::same_as<std::remove_cvref_t<First>, ExitStatus>) explicit Error(
      fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest)
      : Error(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)) {}

  ExitStatus status() const noexcept { return status_; }

 private:
  ExitStatus status_;
};

/// The error of a value that the user chose: it does not exist, is out of bounds, or contradicts
/// another one. The message names the value, and not the option that it came from.
class ValueError : public Error {
 public:
  explicit ValueError(const std::string& message) : Error(message, ExitStatus::usage) {}
  template <typename First, typename... Rest>
  explicit ValueError(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest)
      : ValueError(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

/// A fault of an input file. Its parts are separate so that tests and JSON can name each of them.
struct InputFault {
  std::string file;                          ///< path as the user gave it
  std::optional<std::uint64_t> offset = {};  ///< byte offset in `file` of the fault
  std::string found;                         ///< "a record of 4 bytes"
  std::string expected = {};                 ///< "at least 8"; may be empty
  std::string remedy = {};                   ///< "record again"; may be empty
};

/// An input of a command that could not be read at all.
struct UnreadInput {
  std::string input;   ///< as the user gave it
  std::string reason;  ///< the message that was printed, without the name
};

/// The error of bad input. Readers of files throw no other exceptions.
class InputError : public Error {
 public:
  explicit InputError(InputFault fault);

  const InputFault& fault() const noexcept { return fault_; }

 private:
  InputFault fault_;
};

/// Returns "<file>: at offset 0x20: <found>, expected <expected>; <remedy>", without empty parts.
std::string describe(const InputFault& fault);

/// Returns the meaning of an errno as the end of a message: "no space left on device".
std::string describe_errno(int error_number);

}  // namespace skid
