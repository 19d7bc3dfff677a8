// What commands say on standard error.
#pragma once

#include "src/perfdata/recording.h"
#include "src/support/error.h"

#include <string_view>

namespace skid::commands {

struct OutputOptions;

/// One line on standard error: "skidscan: MESSAGE", control characters escaped.
void say(std::string_view message);

/// What a command says beside its errors.
class Messages {
 public:
  explicit Messages(const OutputOptions& options);

  bool quiet() const noexcept { return quiet_; }
  bool verbose() const noexcept { return verbose_; }
  /// What is good to know; --quiet leaves it out.
  void note(std::string_view message) const;
  /// What was done, and why; only --verbose says it.
  void detail(std::string_view message) const;

 private:
  bool quiet_, verbose_;
};

/// Says each fault of a recording that was read to its end. Returns read_in_part when records are
/// missing, else done. Throws InputError when it has no event, so that nothing of it can be read.
ExitStatus say_faults(const perfdata::Recording& recording);

}  // namespace skid::commands
