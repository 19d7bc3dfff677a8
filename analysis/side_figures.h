// What a comparison needs of one side: its runs together, and the figures that its cell shows.
#pragma once

#include "analysis/comparison.h"
#include "analysis/intervals.h"
#include "analysis/over_runs.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {

/// The quantiles that are compared.
inline constexpr double kMedian = 0.5, kP99 = 0.99;

/// One side's runs. Refers to the measurements of the cell.
struct SideFigures {
  explicit SideFigures(const Cell& cell);

  std::vector<const Measurement*> runs;  ///< those with judged samples
  const Measurement* first = nullptr;    ///< of all runs
  std::string several_things;            ///< why all runs are no repeats of each other, or nothing
  Share hits;                            ///< of all runs together
  OffsetCounts offsets;                  ///< of all runs together, in instructions
  /// The first censored offset, of the shortest runway.
  std::optional<std::int64_t> censored_from;
};

/// Fills the part of a cell that depends on its side alone: judged samples, estimates, contracts.
void describe(Cell& cell);

/// Offsets of one run, in instructions.
const OffsetCounts& offsets_of(const Measurement& measurement);

/// Whether hits and misses of a run may be called good or bad.
bool is_judgeable(const Measurement& measurement);

/// The mean over runs, with its interval where the runs' sampling variances are known.
Estimate over_runs(const std::vector<RunValue>& values);

/// What `value_of` gives for each run that it gives something for.
std::vector<RunValue> values_of(
    const std::vector<const Measurement*>& runs,
    const std::function<std::optional<RunValue>(const Measurement&)>& value_of);

}  // namespace skid::analysis
