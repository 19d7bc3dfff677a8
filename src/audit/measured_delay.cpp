#include "src/audit/measured_delay.h"

#include "analysis/delay.h"
#include "analysis/measurement.h"
#include "src/audit/block_bias.h"
#include "src/measure/recorded_event.h"
#include "src/measure/run_comparison.h"
#include "src/perfdata/attribute.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::audit {

std::optional<DelayRange> measured_delay(const measure::RecordedEvent& event,
                                         std::span<const analysis::Measurement> runs,
                                         std::vector<std::string>& warnings) {
  std::optional<DelayRange> delay;
  std::string reason =
      fmt::format("no delay of this event was measured at level {}", event.attribute.precise_ip);
  for (const analysis::Measurement& run : runs) {
    if (!run.delay || !measure::measures(run, event.attribute)) continue;
    const auto differing = measure::differing_from_run(measure::compare_with_run(event, run));
    if (!differing.empty()) {
      reason = fmt::format("{} does not match the profile: {}",
                           run.run.empty() ? run.file : run.run, fmt::join(differing, ", "));
    } else if (!delay || run.delay->high - run.delay->low < delay->high - delay->low) {
      delay = {run.delay->low, run.delay->high};
    }
  }
  if (delay) return delay;
  warnings.push_back(
      fmt::format("--skid: {}; measure it on the machine of the profile, with its modifiers: "
                  "skidscan record --delay -e EVENT",
                  reason));
  return std::nullopt;
}

}  // namespace skid::audit
