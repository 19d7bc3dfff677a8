// The delay from overflow to record that a run measured.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::audit {
struct DelayRange;
}  // namespace skid::audit

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::measure {
struct RecordedEvent;
}  // namespace skid::measure

namespace skid::audit {

/// Returns the narrowest delay that a run measured for the event. nullopt, with a warning: the run
/// measured no delay that holds for it.
std::optional<DelayRange> measured_delay(const measure::RecordedEvent& event,
                                         std::span<const analysis::Measurement> runs,
                                         std::vector<std::string>& warnings);

}  // namespace skid::audit
