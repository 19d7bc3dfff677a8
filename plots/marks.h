// Marks that several figures have.
#pragma once

#include <string>

namespace skid::plots {

/// The line across a panel at offset 0. gnuplot's own is missing on nonlinear axes.
inline constexpr const char* kTriggerLine =
    "set arrow from 0,graph 0 to 0,graph 1 nohead ls 5 lw 0.7 back";

/// A note in the middle of a panel without data.
inline const std::string kNothingLocated =
    "set label 'no located samples' at graph 0.5,graph 0.5 center";

/// Returns a dashed line across a panel at a height.
std::string even_line(double height);

}  // namespace skid::plots
