// Hit ratios of several sides as a figure: a point with its interval for each event, level and
// side.
#pragma once

#include "analysis/comparison.h"

#include <filesystem>
#include <string>
#include <vector>

namespace skid::plots {

/// `inputs`: their names. Throws UsageError for another extension than .png, .svg and .pdf, Error
/// when gnuplot is missing (naming the package), fails, or the figure cannot be written or would be
/// too high for an image; no half-written figure is left.
void plot_forest(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                 const std::filesystem::path& file);

}  // namespace skid::plots
