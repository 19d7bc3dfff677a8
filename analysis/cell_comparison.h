// One event at one level on two sides: what a side's runs give, whether they can be compared with
// the baseline's, the tests, and their outcome.
#pragma once

#include "analysis/comparison.h"
#include "analysis/repeats.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {

/// The quantiles that are compared.
inline constexpr double kMedian = 0.5, kP99 = 0.99;

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

/// Offsets of one run, in instructions.
const OffsetCounts& offsets_of(const Measurement& measurement);

/// Whether hits and misses of a run may be called good or bad.
bool is_judgeable(const Measurement& measurement);

/// The mean over runs, with its interval where the runs' sampling variances are known.
Estimate over_runs(const std::vector<RunValue>& values);

/// The numbers that `value_of` gives, for the runs that have one.
std::vector<RunValue> values_of(
    const std::vector<const Measurement*>& runs,
    const std::function<std::optional<RunValue>(const Measurement&)>& value_of);

/// Why `cell` cannot be compared with `baseline`; empty where it can.
std::string why_not_compared(const ComparisonCell& baseline, const ComparisonCell& cell);

/// Differences that do not prevent a comparison with the baseline, of which this is a run, each
/// listed once.
std::vector<std::string> reservations(const Measurement& baseline, const ComparisonCell& cell);

/// Fills outcome (where it is settled without tests), remarks, differences with their p-values and
/// distances of `cell`. Both cells are described.
void hold_against(const ComparisonCell& baseline, const SideFigures& baseline_figures,
                  ComparisonCell& cell);

/// Marks differences once the p-values of all cells are adjusted, and fills the outcome.
void conclude(const ComparisonCell& baseline, const ComparisonChoices& choices,
              ComparisonCell& cell);

}  // namespace skid::analysis
