// Whether an event was recorded as precisely as requested, as sentences.
#pragma once

#include <string>
#include <vector>

namespace skid::perfdata {
class Recording;
struct RecordCounts;
}  // namespace skid::perfdata

namespace skid::measure {

struct RecordedEvent;

/// Describes that another event or level was recorded than requested, or a clock in place of an
/// event of the CPU. Empty: the event was recorded as requested, or nothing is known of it.
std::string not_as_requested(const RecordedEvent& event);

/// Returns not_as_requested(), or that the samples show the level to be ignored.
std::string precision_lost(const RecordedEvent& event);

/// Explains why samples of an event are not precise: precision was lost, or the event is a clock or
/// an event of the CPU at level 0. Empty: precise, or no level concerns the event (page faults,
/// breakpoints, tracepoints).
std::string why_not_precise(const RecordedEvent& event);

/// The texts of precision_lost() and why_not_precise() for an event.
struct EventPrecision {
  std::string lost, not_precise;
};
/// Returns the texts by attribute; dummy events have empty ones. `counts` covers the whole
/// recording.
std::vector<EventPrecision> precision_of(const perfdata::Recording& recording,
                                         const perfdata::RecordCounts& counts);

}  // namespace skid::measure
