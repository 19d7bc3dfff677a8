// Where a recording is less precise than was requested: one sentence an event, for reports, audits
// and `inspect`.
#pragma once

#include "src/measure/event_description.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"

#include <string>
#include <vector>

namespace skid::measure {

/// Another event or level was recorded than requested, or a clock in place of an event of the CPU.
/// Empty: it was recorded as requested, or nothing is known of it.
std::string not_as_requested(const RecordedEvent& event);

/// That, or a level that the samples show to be ignored.
std::string precision_lost(const RecordedEvent& event);

/// Why samples of an event are not precise: what was lost; or it is a clock, or an event of the CPU
/// at level 0. Empty: precise, or no level concerns the event (page faults, breakpoints,
/// tracepoints).
std::string why_not_precise(const RecordedEvent& event);

/// Both texts, of an event of a recording.
struct EventPrecision {
  std::string lost, not_precise;
};
/// By attribute; empty texts for dummy events. `counts`: of the whole recording.
std::vector<EventPrecision> precision_of(const perfdata::Recording& recording,
                                         const perfdata::RecordCounts& counts);

}  // namespace skid::measure
