// What `record` has perf try before it begins.
#pragma once

#include "src/machine/machine.h"

#include <string>
#include <string_view>

namespace skid::record {

/// Makes perf parse the event. Throws Error with perf's reason when it does not know it.
/// `text` is the event as the user wrote it.
void check_event(const machine::PerfTool& perf, const std::string& text, const std::string& event);

/// Makes perf count the event for a moment, which takes the same permission as sampling it. Throws
/// Error with the remedy when that is refused.
void check_permission(const machine::PerfTool& perf, const machine::Machine& machine,
                      const std::string& text, const std::string& event);

/// Makes perf look up and count the tracepoint that --check-ip records. Throws Error with the
/// remedy when this kernel does not have it or does not give it to this user.
void check_tracepoint(const machine::PerfTool& perf, std::string_view tracepoint);

}  // namespace skid::record
