// The delay from overflow to record that a run measured.
#pragma once

#include <optional>
#include <span>

namespace skid::audit {
struct DelayRange;
struct MissingDelay;
}  // namespace skid::audit

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::measure {
struct RecordedEvent;
}  // namespace skid::measure

namespace skid::audit {

/// Returns the narrowest delay that a run measured for the event. nullopt: the runs measured none
/// that holds for it; `missing` has the reason.
std::optional<DelayRange> measured_delay(const measure::RecordedEvent& event,
                                         std::span<const analysis::Measurement> runs,
                                         std::optional<MissingDelay>& missing);

}  // namespace skid::audit
