// What the tests of a cell come to: better, worse, different, or nothing that is more than chance.
#pragma once

#include "analysis/comparison.h"

namespace skid::analysis {

/// Marks differences once the p-values of all cells are adjusted, and fills the outcome.
void conclude(const Cell& baseline, const ComparisonChoices& choices, Cell& cell);

}  // namespace skid::analysis
