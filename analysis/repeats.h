// Repetitions of one measurement, summed up over runs.
#pragma once

#include "analysis/measurement.h"
#include "analysis/over_runs.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace skid::analysis {

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

/// Those that there are several of, by configuration (`configuration_of` in merge.h), in the order
/// of their first ones. A statistic that fewer than two of the runs have is left out.
std::vector<RepeatedMeasurement> repeats_of(std::span<const Measurement* const> measurements);

}  // namespace skid::analysis
