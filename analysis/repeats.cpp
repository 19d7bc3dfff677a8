#include "analysis/repeats.h"

#include "analysis/merge.h"

#include <algorithm>
#include <map>
#include <utility>

namespace skid::analysis {
namespace {

std::optional<OverRuns> over_runs(const std::vector<RunValue>& values, bool at_least) {
  const auto interval = interval_over_runs(values);
  if (!interval) return std::nullopt;
  return OverRuns{values.size(), *interval, at_least};
}

RepeatedMeasurement summarize_runs(std::vector<const Measurement*> runs) {
  std::vector<RunValue> ratios, medians, means;
  bool median_at_least = false;
  bool mean_at_least = false;
  for (const Measurement* run : runs) {
    if (run->hit_ratio.total > 0) ratios.push_back(run_value(run->hit_ratio));
    if (!run->instructions) continue;
    const OffsetCounts& offsets = run->basis.tally.instructions;
    if (const auto median = run_quantile(offsets, 0.5)) {
      medians.push_back(*median);
      median_at_least |= run->instructions->p50_at_least;
    }
    if (const auto mean = run_mean(offsets)) {
      means.push_back(*mean);
      mean_at_least |= run->instructions->max_at_least;
    }
  }
  RepeatedMeasurement repeats;
  repeats.runs = std::move(runs);
  repeats.hit_ratio = over_runs(ratios, false);
  if (repeats.hit_ratio) {
    Interval& interval = repeats.hit_ratio->interval;
    interval.low = std::max(0.0, interval.low);
    interval.high = std::min(1.0, interval.high);
  }
  repeats.median = over_runs(medians, median_at_least);
  repeats.mean = over_runs(means, mean_at_least);
  return repeats;
}

}  // namespace

std::vector<RepeatedMeasurement> repeats_of(std::span<const Measurement* const> measurements) {
  std::map<Configuration, std::size_t> known;
  std::vector<std::vector<const Measurement*>> groups;
  for (const Measurement* measurement : measurements) {
    const auto [found, is_new] = known.try_emplace(configuration_of(*measurement), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(measurement);
  }
  std::vector<RepeatedMeasurement> repeats;
  for (auto& group : groups) {
    if (group.size() > 1) repeats.push_back(summarize_runs(std::move(group)));
  }
  return repeats;
}

}  // namespace skid::analysis
