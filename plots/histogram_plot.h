// Skid histograms as a figure, drawn by gnuplot.
#pragma once

#include "analysis/measurement.h"

#include <filesystem>
#include <vector>

namespace skid::plots {

enum class Arrangement {
  panels,   ///< one panel per event, precise levels stacked with a shared axis
  overlaid  ///< one panel per event, levels over each other as steps
};

struct PlotOptions {
  std::filesystem::path file;  ///< .png, .svg or .pdf
  Arrangement arrangement = Arrangement::panels;
};

/// Throws UsageError for another extension, Error when gnuplot is missing (naming the package),
/// fails, or the figure cannot be written; no half-written figure is left.
void plot_histograms(const std::vector<analysis::Measurement>& measurements,
                     const PlotOptions& options);

}  // namespace skid::plots
