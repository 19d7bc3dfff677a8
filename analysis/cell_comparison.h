// One event at one level on two sides: what a side's runs give, whether they can be compared with
// the baseline's, and the tests.
#pragma once

#include "analysis/comparison.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace skid::analysis {

/// The runs of a cell together. Refers to their measurements.
struct SideFigures {
  explicit SideFigures(const ComparisonCell& cell);

  std::vector<const Measurement*> runs;  ///< those with judged samples
  const Measurement* first = nullptr;    ///< of all runs
  Share hits;                            ///< of all runs together
  OffsetCounts offsets;                  ///< of all runs together, in instructions
  /// The first censored offset, of the shortest runway.
  std::optional<std::int64_t> censored_from;
};

/// Fills the part of a cell that depends on its side alone: judged samples, estimates, contracts.
void describe(ComparisonCell& cell);

/// Whether hits and misses of a run may be called good or bad.
bool is_judgeable(const Measurement& measurement);

/// Fills outcome (where it is settled without tests), remarks, differences with their p-values and
/// distances of `cell`. Both cells are described.
void hold_against(const ComparisonCell& baseline, const SideFigures& baseline_figures,
                  ComparisonCell& cell);

}  // namespace skid::analysis
