// Offsets of many measurements as a figure: a row of coloured bins for each.
#pragma once

#include "analysis/measurement.h"
#include "plots/figure_bins.h"
#include "plots/figure_file.h"
#include "src/output/report/grouping.h"

#include <cstdint>
#include <vector>

namespace skid::plots {

struct HeatBin {
  std::int64_t lo = 0;  ///< first offset of the bin
  double share = 0;     ///< of the measurement's located samples, not 0
};

/// The bins of `axis` that hold samples, ascending. Shares are of all located samples, those
/// beyond the axis included.
std::vector<HeatBin> heat_of(const analysis::Measurement& measurement, const OffsetAxis& axis);

/// Throws Error when the figure would be larger than an image can be.
Drawing draw_heatmap(const std::vector<output::MachineGroup>& machines);

}  // namespace skid::plots
