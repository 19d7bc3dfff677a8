// The meaning of perf's messages on standard error.
#pragma once

#include "src/machine/machine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perftool {

struct Messages {
  bool wrote_file = false;    ///< perf finished and wrote the recording
  std::uint64_t samples = 0;  ///< that it counted there
  bool no_permission = false;
  bool disk_full = false;
  std::optional<std::string> refusal;  ///< why the kernel refuses the event
  std::optional<std::string> unknown;  ///< why perf does not know it
  std::vector<std::string> remarks;    ///< everything but perf's usual chatter, a line each
};

Messages read_messages(std::string_view standard_error);

/// Whether perf reports a missing permission.
bool reports_missing_permission(std::string_view standard_error);

/// perf's reason for not parsing an event: what it points at with "\___", or its first line.
std::string syntax_reason(std::string_view standard_error);

/// "no permission to sample it (kernel.perf_event_paranoid is 2); …", with the remedy.
std::string permission_reason(const machine::Machine& machine);

}  // namespace skid::perftool
