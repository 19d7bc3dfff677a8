// Cumulative distributions of skid as a figure: a panel per event, its levels over each other.
#pragma once

#include "plots/figure_file.h"
#include "src/output/report/grouping.h"

#include <vector>

namespace skid::plots {

/// Throws Error when the figure would be larger than an image can be.
Drawing draw_cumulative(const std::vector<output::MachineGroup>& machines);

}  // namespace skid::plots
