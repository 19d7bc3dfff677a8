// One event at one level on two sides: whether it can be compared, the tests, and their outcome.
#pragma once

#include "analysis/comparison.h"
#include "analysis/side_figures.h"

#include <string>
#include <vector>

namespace skid::analysis {

/// Why the runs of `baseline` are no repeats of each other; empty where they are.
std::string why_no_baseline(const Cell& baseline);

/// Why `cell` cannot be compared with the baseline, of which this is a run; empty where it can.
std::string why_not_compared(const Measurement& baseline, const Cell& cell);

/// Differences that do not prevent a comparison, each listed once.
std::vector<std::string> reservations(const Measurement& baseline, const Cell& cell);

/// Fills outcome (where it is settled without tests), remarks, differences with their p-values and
/// distances of `cell`, whose description is done.
void hold_against(const SideFigures& baseline, Cell& cell);

/// Marks differences once the p-values of all cells are adjusted, and fills the outcome.
void conclude(const Cell& baseline, const ComparisonChoices& choices, Cell& cell);

}  // namespace skid::analysis
