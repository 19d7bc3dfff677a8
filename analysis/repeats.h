// Repetitions of one measurement: statistics over runs, with intervals over runs instead of
// samples.
#pragma once

#include "analysis/measurement.h"
#include "analysis/two_sample.h"

namespace skid::analysis {

/// What one run gave for a statistic, and the variance that sampling alone gives it.
struct RunValue {
  double value = 0;
  double sampling_variance = 0;
};

/// The mean of the runs' values; for equal values exactly that value, so that rounding does not
/// look like a difference. 0 for none.
double mean_of(std::span<const RunValue> runs);

/// The share of a run. Its sampling variance is that of (count + 2) / (total + 4), so that a share
/// of 0 or 1 has one too. Of no samples: 1/2, with a variance of 1/16.
RunValue run_value(const Share& share);
/// nullopt for fewer than two samples, which have no variance.
std::optional<RunValue> run_mean(const OffsetCounts& offsets);
/// The grouped quantile, the variance taken from the width of its interval; nullopt where the
/// samples do not bound it on both sides.
std::optional<RunValue> run_quantile(const OffsetCounts& offsets, double share);

/// The mean of the runs' values with Student's t interval over the runs, at least as wide as
/// sampling alone makes it. nullopt for fewer than two runs. Resampling three to five runs would
/// give intervals that are too narrow.
std::optional<Interval> interval_over_runs(std::span<const RunValue> runs);

/// The difference b - a of the mean values of two sides' runs: Welch's t over the runs. If one
/// side has a single run, its runs are assumed to vary like those of the other. The variance is at
/// least that of sampling alone. nullopt if no side has two runs, or one has none.
std::optional<Difference> difference_over_runs(std::span<const RunValue> a,
                                               std::span<const RunValue> b);

/// A statistic over runs.
struct OverRuns {
  std::size_t runs = 0;  ///< that have it: at least two
  Interval interval;     ///< of the mean of the runs' values
  /// Samples are censored in some run, so that its value is a lower bound.
  bool at_least = false;
};

/// Measurements of one configuration: of the same event at the same level on the same machine.
struct RepeatedMeasurement {
  std::vector<const Measurement*> runs;  ///< at least two, not owned
  std::optional<OverRuns> hit_ratio;     ///< within [0, 1]
  std::optional<OverRuns> median, mean;  ///< in instructions; the median is the grouped one
};

/// The measurements that have repetitions, by configuration (`configuration_of` in merge.h), in the
/// order of their first ones. A statistic that fewer than two of the runs have is left out.
std::vector<RepeatedMeasurement> repeats_of(std::span<const Measurement* const> measurements);

}  // namespace skid::analysis
