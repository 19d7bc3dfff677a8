// Skid histograms as a figure.
#pragma once

#include "plots/figure_file.h"
#include "plots/figure_layout.h"
#include "src/output/report/grouping.h"

#include <vector>

namespace skid::plots {

struct HistogramStyle {
  Arrangement arrangement = Arrangement::panels;
  bool logarithmic = false;  ///< the samples' axis
};

/// Throws Error when the figure would be larger than an image can be.
Drawing draw_histograms(const std::vector<output::MachineGroup>& machines,
                        const HistogramStyle& style);

}  // namespace skid::plots
