// How the samples of several triggers fall on each of them, as a figure.
#pragma once

#include "plots/figure_file.h"
#include "src/output/report/grouping.h"

#include <vector>

namespace skid::plots {

/// Of measurements with several triggers; others are left out. Throws UsageError when there is none
/// with several, Error when the figure would be larger than an image can be.
Drawing draw_bias(std::vector<output::MachineGroup> machines);

}  // namespace skid::plots
