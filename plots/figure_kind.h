// The kinds of figures of measurements.
#pragma once

#include "src/support/names.h"

#include <array>

namespace skid::plots {

enum class Kind {
  histogram,
  cdf,
  breakdown,
  forest,
  bias,
  delay,
};
SKID_NAMES(Kind, "histogram", "cdf", "breakdown", "forest", "bias", "delay")
inline constexpr std::array kKinds{Kind::histogram, Kind::cdf,  Kind::breakdown,
                                   Kind::forest,    Kind::bias, Kind::delay};

}  // namespace skid::plots
