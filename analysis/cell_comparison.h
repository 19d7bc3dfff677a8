// One event at one level on two sides: the tests between them.
#pragma once

#include "analysis/comparison.h"
#include "analysis/side_figures.h"

namespace skid::analysis {

/// Fills outcome (where it is settled without tests), remarks, differences with their p-values and
/// distances of `cell`, whose description is done.
void hold_against(const SideFigures& baseline, Cell& cell);

}  // namespace skid::analysis
