#include "src/audit/measured_delay.h"

#include "analysis/delay.h"
#include "analysis/measurement.h"
#include "src/audit/block_bias.h"
#include "src/audit/findings.h"
#include "src/measure/recorded_event.h"
#include "src/measure/run_comparison.h"

#include <string>
#include <utility>
#include <vector>

namespace skid::audit {

std::optional<DelayRange> measured_delay(const measure::RecordedEvent& event,
                                         std::span<const analysis::Measurement> runs,
                                         std::optional<MissingDelay>& missing) {
  std::optional<DelayRange> delay;
  MissingDelay reason;
  for (const analysis::Measurement& run : runs) {
    if (!run.delay || !measure::measures(run, event.attribute)) continue;
    auto differing = measure::differing_from_run(measure::compare_with_run(event, run));
    if (!differing.empty()) {
      reason = {run.run.empty() ? run.file : run.run, std::move(differing)};
    } else if (!delay || run.delay->high - run.delay->low < delay->high - delay->low) {
      delay = {run.delay->low, run.delay->high};
    }
  }
  if (!delay) missing = std::move(reason);
  return delay;
}

}  // namespace skid::audit
