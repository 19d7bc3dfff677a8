// Hit ratios as a figure: a point with its interval for each event, level and side or measurement.
#pragma once

#include "analysis/comparison.h"
#include "plots/figure_file.h"
#include "src/output/report/grouping.h"

#include <string>
#include <vector>

namespace skid::plots {

/// A line for each side. `inputs`: their names. Throws Error when the figure would be larger than
/// an image can be.
Drawing draw_forest(const analysis::Comparison& comparison, const std::vector<std::string>& inputs);

/// A line for each measurement, in the colour of its CPU. Throws Error when the figure would be
/// larger than an image can be.
Drawing draw_forest(const std::vector<output::MachineGroup>& machines);

}  // namespace skid::plots
