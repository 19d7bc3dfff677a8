// A forest plot: ratios with their intervals below each other, whatever they were taken from.
#pragma once

#include "analysis/comparison.h"
#include "plots/figure_file.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::plots {

/// A ratio or that there is none; or those of all sides.
struct ForestLine {
  std::string name;  ///< short: the letter of a side
  const char* color = "";
  std::optional<analysis::Estimate> ratio;
  bool judged = true;       ///< else its mark is hollow
  std::string text;         ///< behind the plot
  bool grey = false;        ///< the text: it tells of what is not there
  std::vector<double> all;  ///< ratios of all sides, instead of one
};

struct ForestLevel {
  std::string name;
  std::optional<double> baseline;  ///< ratio that a dotted line shows
  std::vector<ForestLine> lines;   ///< at least one
};

struct ForestPanel {
  std::string event;
  std::vector<ForestLevel> levels;
};

/// Shares are from 0 to 1.
struct Forest {
  std::string title, marks;  ///< marks: what they mean, in a line
  /// What the colours of the lines stand for.
  std::vector<std::pair<const char*, std::string>> key;
  std::vector<ForestPanel> panels;
};

/// The colour of a side by its number; there are seven, then they come again.
const char* forest_color(std::size_t side);

/// Throws Error when the figure would be larger than an image can be.
Drawing draw_forest(const Forest& forest);

}  // namespace skid::plots
