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
  std::size_t runs = 0;  ///< that told it: at least two
  Interval interval;     ///< of the mean of the runs' values
  /// Samples are censored in some run, so that its value is a lower bound.
  bool at_least = false;
};

/// Measurements of the same event at the same level on the same machine, one of each run.
struct Repeats {
  std::vector<const Measurement*> runs;  ///< at least two, not owned
  std::optional<OverRuns> hit_ratio;     ///< within [0, 1]
  std::optional<OverRuns> median, mean;  ///< in instructions; the median is the grouped one
};

/// Whether two measurements are of the same event (as asked for and as recorded), precise level,
/// period, trigger and machine, so that they differ as runs do. The targets may have been built
/// anew.
bool are_repeats(const Measurement& a, const Measurement& b);

/// Those of which there are several, in the order of their first ones. A statistic that fewer than
/// two of the runs tell is left out.
std::vector<Repeats> repeats_of(std::span<const Measurement* const> measurements);

}  // namespace skid::analysis
