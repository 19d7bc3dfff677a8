// Messages of commands on standard error.
#pragma once

#include "src/perfdata/recording.h"
#include "src/support/error.h"

#include <string_view>

namespace skid::commands {

struct OutputOptions;

/// One line on standard error: "skidscan: MESSAGE", control characters escaped.
void print_error(std::string_view message);

/// Messages of a command other than errors.
class Messages {
 public:
  explicit Messages(const OutputOptions& options);

  bool quiet() const noexcept { return quiet_; }
  bool verbose() const noexcept { return verbose_; }
  /// Prints a note, unless --quiet is given.
  void note(std::string_view message) const;
  /// Prints a step with its reason, if --verbose is given.
  void detail(std::string_view message) const;

 private:
  bool quiet_, verbose_;
};

/// Prints each fault of a recording that was read to its end. Returns read_in_part if records are
/// missing, else done. Throws InputError if it has no event, so that nothing can be read.
ExitStatus print_faults(const perfdata::Recording& recording);

}  // namespace skid::commands
