// One event at one level on two sides: the figures of each, and the tests between them.
#pragma once

#include "analysis/comparison.h"
#include "analysis/over_runs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {

/// Fills what a cell tells of its side alone: judged samples, estimates, contracts.
void describe(Cell& cell);

/// What the tests need of one side's runs. Refers to its measurements.
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

/// Fills outcome (where it is settled without tests), remarks, differences with their p-values and
/// distances of `cell`, whose description is done. `seed`: of permutations.
void hold_against(const SideFigures& baseline, std::uint64_t seed, Cell& cell);

/// Marks differences once the p-values of all cells are adjusted, and fills the outcome.
void conclude(const Cell& baseline, const ComparisonChoices& choices, Cell& cell);

}  // namespace skid::analysis
