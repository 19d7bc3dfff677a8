#include "src/commands/messages.h"

#include "src/commands/shared_options.h"
#include "src/output/escape.h"
#include "src/support/standard_error.h"

#include <optional>

#include <fmt/format.h>

namespace skid::commands {

void print_error(std::string_view message) {
  print_to_standard_error(fmt::format("skidscan: {}\n", output::escape_for_terminal(message)));
}

Messages::Messages(const OutputOptions& options)
    : quiet_(options.quiet), verbose_(options.verbose) {}

void Messages::note(std::string_view message) const {
  if (!quiet_) print_error(message);
}

void Messages::detail(std::string_view message) const {
  if (verbose_) print_error(message);
}

ExitStatus print_faults(const perfdata::Recording& recording) {
  for (const auto& fault : recording.faults()) print_error(describe(fault));
  if (recording.attributes().empty()) {
    // In pipe mode only the end of the recording tells.
    throw InputError({recording.path().string(), std::nullopt, "no event attribute", "at least one",
                      "the recording is damaged or was cut off; record again"});
  }
  return recording.read_in_part() ? ExitStatus::read_in_part : ExitStatus::done;
}

}  // namespace skid::commands
