// The kinds of figures: each function makes one of measurements, not yet laid out.
#pragma once

#include "analysis/comparison.h"
#include "plots/labels.h"
#include "plots/model.h"

#include <string>
#include <vector>

namespace skid::plots {

/// Whether the levels of an event have a panel each or share one as outlines.
enum class Arrangement { panels, overlaid };

struct HistogramStyle {
  Arrangement arrangement = Arrangement::panels;
  bool logarithmic = false;  ///< the samples' axis
};

Figure histogram_figure(const Machines& machines, const HistogramStyle& style);
Figure cdf_figure(const Machines& machines);
Figure breakdown_figure(const Machines& machines);

/// Whether a measurement has several triggers at known distances.
bool has_trigger_distances(const analysis::Measurement& measurement);
/// The bias of those; others are left out. Throws UsageError when all are.
Figure bias_figure(const Machines& machines);

/// Of measurements with a delay from overflow to record; others are left out. Throws UsageError
/// when all are.
Figure delay_figure(const Machines& machines);

/// A row for each measurement, in the colour of its CPU.
Figure forest_figure(const Machines& machines);
/// A row for each side; with many sides, for those that differ. `inputs`: their names.
Figure forest_figure(const analysis::Comparison& comparison,
                     const std::vector<std::string>& inputs);

}  // namespace skid::plots
