// Statistics over repetitions of one measurement, with intervals over runs instead of samples.
#pragma once

#include "analysis/intervals.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace skid::analysis {

class OffsetCounts;
struct Measurement;
struct Share;

struct Difference;

/// The value of a statistic in one run, and the variance that sampling alone gives it.
struct RunValue {
  double value = 0;
  double sampling_variance = 0;
};

/// Returns the mean of the runs' values; 0 without runs. The mean of equal values is exactly that
/// value, so that rounding does not look like a difference.
double mean_of(std::span<const RunValue> runs);

/// Returns the share of a run. Its sampling variance is that of (count + 2) / (total + 4), so that
/// a share of 0 or 1 has one too. Without samples it is 1/2, with a variance of 1/16.
RunValue run_value(const Share& share);
/// Returns the mean of a run; nullopt for fewer than two samples, which have no variance.
std::optional<RunValue> run_mean(const OffsetCounts& offsets);
/// Returns the grouped quantile of a run, with the variance computed from the width of its
/// interval; nullopt if the samples do not bound it on both sides.
std::optional<RunValue> run_quantile(const OffsetCounts& offsets, double share);

/// Returns the mean of the runs' values with Student's t interval over the runs, at least as wide
/// as sampling alone makes it. nullopt for fewer than two runs. Resampling three to five runs would
/// give intervals that are too narrow.
std::optional<Interval> interval_over_runs(std::span<const RunValue> runs);

/// Returns the difference b - a of the mean values of two sides' runs, with Welch's t over the
/// runs. A side with a single run is assumed to vary like the other. The variance is at least that
/// of sampling alone. nullopt if no side has two runs, or one has none.
std::optional<Difference> difference_over_runs(std::span<const RunValue> a,
                                               std::span<const RunValue> b);

/// A statistic over runs.
struct OverRuns {
  std::size_t runs = 0;  ///< number of runs that have it: at least two
  Interval interval;     ///< mean of the runs' values with its interval
  /// True if samples are censored in some run, so that its value is a lower bound.
  bool at_least = false;
};

/// Measurements of one configuration: the same event at the same level on the same machine.
struct RepeatedMeasurement {
  std::vector<const Measurement*> runs;  ///< at least two, not owned
  std::optional<OverRuns> hit_ratio;     ///< within [0, 1]
  std::optional<OverRuns> median, mean;  ///< offsets in instructions; the median is grouped
};

/// Summarizes the measurements that have repetitions, by configuration (`configuration_of`), in the
/// order of their first ones. A statistic that fewer than two of the runs have is left out.
std::vector<RepeatedMeasurement> repeats_of(std::span<const Measurement* const> measurements);

}  // namespace skid::analysis
