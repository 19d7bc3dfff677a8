#include "src/commands/messages.h"

#include "src/output/escape.h"

#include <cstdio>

#include <fmt/format.h>

namespace skid::commands {

void say(std::string_view message) {
  fmt::print(stderr, "skidscan: {}\n", output::escape_for_terminal(message));
}

ExitStatus say_faults(const perfdata::Recording& recording) {
  for (const auto& fault : recording.faults()) say(describe(fault));
  return recording.read_in_part() ? ExitStatus::read_in_part : ExitStatus::done;
}

}  // namespace skid::commands
