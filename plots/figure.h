// The kinds of figures, and how one is made.
#pragma once

#include "analysis/comparison.h"
#include "analysis/measurement.h"
#include "plots/figure_file.h"
#include "plots/figure_layout.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::plots {

enum class Kind { histogram, cdf, heatmap, ledger, forest, bias };
inline constexpr std::array kKinds{Kind::histogram, Kind::cdf,    Kind::heatmap,
                                   Kind::ledger,    Kind::forest, Kind::bias};

/// "histogram", "cdf", …
std::string_view name_of(Kind kind);
std::optional<Kind> kind_from(std::string_view name);

struct FigureOptions {
  FigureFiles files;
  Kind kind = Kind::histogram;
  Arrangement arrangement = Arrangement::panels;  ///< of histograms
  bool logarithmic = false;                       ///< the samples' axis of histograms
};

/// Draws `measurements` into the files. Throws UsageError when a file's name is not what it is to
/// be and when bias is to be drawn of measurements with one trigger each; Error when there is no
/// measurement, when gnuplot is missing (naming the package) or fails, and when the figure would be
/// too large for an image or cannot be written. No half-written file is left.
void draw_figure(const std::vector<analysis::Measurement>& measurements,
                 const FigureOptions& options);

/// Draws the sides of a comparison against each other, as `forest` does. `inputs`: their names.
/// Throws like the other.
void draw_comparison(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                     const FigureFiles& files);

}  // namespace skid::plots
