// The outcome of a cell's tests: better, worse, different, or no difference beyond chance.
#pragma once

#include "analysis/comparison.h"

namespace skid::analysis {

/// Marks differences once the p-values of all cells are adjusted, and fills the outcome.
void conclude(const Cell& baseline, const ComparisonChoices& choices, Cell& cell);

}  // namespace skid::analysis
