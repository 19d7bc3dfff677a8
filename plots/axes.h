// Axes of whole numbers, counts and shares.
#pragma once

#include "plots/drawing.h"

#include <string>
#include <vector>

namespace skid::plots {

/// A horizontal axis of whole numbers. `logarithmic`: in both directions from 0.
struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;

  /// Returns the place of a value, as a share of the axis' length.
  double place_of(double value) const;
};

/// Settings of a vertical axis of cumulative shares.
inline const std::vector<std::string> kShareAxis{"set yrange [-3:103]", "set ytics 20",
                                                 "set format y '%.0f%%'"};
/// The lines of text that the tics of kShareAxis need.
inline constexpr double kLeastShareLines = 7;
/// Returns the height of a row with a place and a share on kShareAxis, as a share of the plot's.
inline double share_height(const Rows::value_type& row) {
  return (row[1] + 3) / 106;
}

/// Returns the settings of a vertical axis from 0 to a little more than `highest`, in whole
/// numbers. `is_low`: plots may have room for few tics.
std::vector<std::string> count_axis(double highest, bool logarithmic = false, bool is_low = true);
/// Returns the height of `count` on a count_axis(), as a share of the plot's.
double count_height(double count, double highest, bool logarithmic);

}  // namespace skid::plots
