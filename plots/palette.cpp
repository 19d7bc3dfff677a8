#include "plots/palette.h"

#include <array>

namespace skid::plots {
namespace {

struct ColorText {
  std::string_view hex, name;
};

/// By Color.
constexpr std::array<ColorText, 10> kColors{{{"#000000", "black"},
                                             {"#444444", "dark-grey"},
                                             {"#777777", "grey"},
                                             {"#E69F00", "orange"},
                                             {"#56B4E9", "sky-blue"},
                                             {"#009E73", "green"},
                                             {"#0072B2", "blue"},
                                             {"#D55E00", "vermillion"},
                                             {"#CC79A7", "purple"},
                                             {"#F0E442", "yellow"}}};

}  // namespace

std::string_view hex_of(Color color) {
  return kColors[static_cast<std::size_t>(color)].hex;
}

std::string_view name_of(Color color) {
  return kColors[static_cast<std::size_t>(color)].name;
}

Fill fill_of(analysis::SampleClass sample_class) {
  // Ordered by SampleClass. Of colours that are alike in grey each has its own pattern.
  static constexpr std::array<Fill, analysis::kSampleClasses> kFills{{{Color::green, 0},
                                                                      {Color::blue, 4},
                                                                      {Color::orange, 0},
                                                                      {Color::vermillion, 2},
                                                                      {Color::purple, 1},
                                                                      {Color::sky_blue, 7},
                                                                      {Color::black, 6},
                                                                      {Color::dark_grey, 0},
                                                                      {Color::grey, 5},
                                                                      {Color::yellow, 0}}};
  return kFills[static_cast<std::size_t>(sample_class)];
}

LineStyle line_style_of(int level) {
  switch (level) {
    case 0:
      return {Color::black, 7.0};
    case 1:
      return {Color::orange, 5.0};
    case 2:
      return {Color::sky_blue, 3.0};
    case 3:
      return {Color::vermillion, 1.2};
    default:
      return {Color::grey, 1.2};
  }
}

Color color_of_side(std::size_t side) {
  constexpr std::array kSides{Color::blue,   Color::vermillion, Color::green, Color::orange,
                              Color::purple, Color::sky_blue,   Color::black};
  return kSides[side % kSides.size()];
}

}  // namespace skid::plots
