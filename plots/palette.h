// The colours, fills and lines of figures.
#pragma once

#include "analysis/breakdown.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace skid::plots {

/// Okabe and Ito's palette, which is distinct with any colour vision (jfly.uni-koeln.de/color), and
/// greys.
enum class Color {
  black,
  dark_grey,
  grey,
  orange,
  sky_blue,
  green,
  blue,
  vermillion,
  purple,
  yellow,
};
/// "#0072B2"
std::string_view hex_of(Color color);
/// "sky-blue", the class of the colour in a page.
std::string_view name_of(Color color);

/// How an area is filled. Patterns distinguish classes whose colours look alike in grey.
struct Fill {
  Color color = Color::black;
  int pattern = 0;  ///< gnuplot's number; 0: solid
};

struct LineStyle {
  Color color = Color::black;
  double width = 1;                 ///< pixels
  std::vector<double> dashes = {};  ///< pixels on and off in turn; empty: solid
};

inline const std::vector<double> kDotted{2, 4};
inline const std::vector<double> kDashed{8, 5};

/// Of a class of the breakdown.
Fill fill_of(analysis::SampleClass sample_class);

/// Of a precise level. Lower levels have wider lines, so that they stay visible below higher ones.
LineStyle line_style_of(int level);

/// Of the n-th side of a comparison or machine; there are seven, which repeat.
Color color_of_side(std::size_t side);

}  // namespace skid::plots
