#include "analysis/repeats.h"

#include "analysis/basis.h"
#include "analysis/confidence.h"
#include "analysis/distance.h"
#include "analysis/distributions.h"
#include "analysis/measurement.h"
#include "analysis/merge.h"
#include "analysis/offset_counts.h"
#include "analysis/share.h"
#include "analysis/tally.h"
#include "analysis/two_sample.h"
#include "src/machine/configuration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace skid::analysis {
namespace {

/// Mean and variances of the runs of one side.
struct RunSummary {
  double runs = 0;
  double mean = 0;
  double between = 0;   ///< variance of the values over the runs, n - 1 in the denominator
  double sampling = 0;  ///< mean of the runs' sampling variances
};

RunSummary side_of(std::span<const RunValue> runs) {
  RunSummary side;
  side.runs = static_cast<double>(runs.size());
  side.mean = mean_of(runs);
  for (const RunValue& run : runs) side.sampling += run.sampling_variance / side.runs;
  if (runs.size() < 2) return side;
  for (const RunValue& run : runs) {
    side.between += (run.value - side.mean) * (run.value - side.mean) / (side.runs - 1.0);
  }
  return side;
}

/// Returns the variance of one run's value. If only the other side was repeated, its runs show how
/// much more runs vary than sampling alone makes them.
double variance_of_run(const RunSummary& side, const RunSummary& other) {
  if (side.runs >= 2) return std::max(side.between, side.sampling);
  const double between_alone = std::max(0.0, other.between - other.sampling);
  return std::max(other.between, side.sampling + between_alone);
}

/// Returns Welch and Satterthwaite's degrees of freedom of the sum of two variances of means.
double degrees_of(double of_a, const RunSummary& a, double of_b, const RunSummary& b) {
  if (a.runs < 2) return b.runs - 1.0;
  if (b.runs < 2) return a.runs - 1.0;
  const double sum = of_a + of_b;
  return sum * sum / (of_a * of_a / (a.runs - 1.0) + of_b * of_b / (b.runs - 1.0));
}

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

double mean_of(std::span<const RunValue> runs) {
  if (runs.empty()) return 0;
  const auto count = static_cast<double>(runs.size());
  double sum = 0, rest = 0;
  for (const RunValue& run : runs) sum += run.value;
  const double rounded = sum / count;
  for (const RunValue& run : runs) rest += run.value - rounded;
  return rounded + rest / count;
}

RunValue run_value(const Share& share) {
  const double n = static_cast<double>(share.total) + 4.0;
  const double p = (static_cast<double>(share.count) + 2.0) / n;
  return {share.total == 0 ? p : share.value, p * (1.0 - p) / n};
}

std::optional<RunValue> run_mean(const OffsetCounts& offsets) {
  if (offsets.total() < 2) return std::nullopt;
  const Moments moments = moments_of(offsets);
  return RunValue{moments.mean, moments.variance / moments.n};
}

std::optional<RunValue> run_quantile(const OffsetCounts& offsets, double share) {
  const auto interval = quantile_interval(offsets, share);
  if (!interval || !interval->grouped.low || !interval->grouped.high) return std::nullopt;
  const double error = (*interval->grouped.high - *interval->grouped.low) / (2.0 * two_sided_z());
  return RunValue{interval->grouped.value, error * error};
}

std::optional<Interval> interval_over_runs(std::span<const RunValue> runs) {
  if (runs.size() < 2) return std::nullopt;
  const RunSummary side = side_of(runs);
  const double over_runs =
      student_reach(side.runs - 1.0, kConfidence) * std::sqrt(side.between / side.runs);
  const double sampling = two_sided_z() * std::sqrt(side.sampling / side.runs);
  const double reach = std::max(over_runs, sampling);
  return Interval{side.mean, side.mean - reach, side.mean + reach};
}

std::optional<Difference> difference_over_runs(std::span<const RunValue> a,
                                               std::span<const RunValue> b) {
  if (a.empty() || b.empty() || (a.size() < 2 && b.size() < 2)) return std::nullopt;
  const RunSummary side_a = side_of(a);
  const RunSummary side_b = side_of(b);
  const double of_a = variance_of_run(side_a, side_b) / side_a.runs;
  const double of_b = variance_of_run(side_b, side_a) / side_b.runs;
  const double error = std::sqrt(of_a + of_b);
  Difference difference;
  difference.value = side_b.mean - side_a.mean;
  difference.low = difference.high = difference.value;
  if (!(error > 0)) {  // neither samples nor runs vary
    difference.p = difference.value == 0 ? 1 : 0;
    return difference;
  }
  const double degrees = degrees_of(of_a, side_a, of_b, side_b);
  const double reach = student_reach(degrees, kConfidence) * error;
  difference.low -= reach;
  difference.high += reach;
  difference.p = student_p(degrees, difference.value / error);
  return difference;
}

std::vector<RepeatedMeasurement> repeats_of(std::span<const Measurement* const> measurements) {
  std::map<machine::Configuration, std::size_t> known;
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
