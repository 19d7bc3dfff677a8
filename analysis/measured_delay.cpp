#include "analysis/measured_delay.h"

#include "analysis/basis.h"
#include "analysis/measurement.h"
#include "analysis/offset_counts.h"
#include "analysis/tally.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace skid::analysis {

std::vector<MeasuredDelay> delays_over(const std::vector<const Measurement*>& runs) {
  std::vector<std::pair<SamplePairs, OffsetCounts>> sums;
  for (const Measurement* run : runs) {
    if (!run->basis.sample_pairs) continue;
    const SamplePairs& pairs = *run->basis.sample_pairs;
    const auto sum =
        std::ranges::find_if(sums, [&](const auto& one) { return one.first.is_like(pairs); });
    if (sum == sums.end()) {
      sums.emplace_back(pairs, run->basis.tally.instructions);
    } else {
      sum->first += pairs;
      sum->second += run->basis.tally.instructions;
    }
  }
  std::vector<MeasuredDelay> delays;
  for (auto& [pairs, samples] : sums) {
    if (const auto delay = delay_of(pairs, samples)) delays.push_back({*delay, std::move(pairs)});
  }
  return delays;
}

}  // namespace skid::analysis
