// The kinds of figures of measurements.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace skid::plots {

enum class Kind {
  histogram,
  cdf,
  breakdown,
  forest,
  bias,
  delay,
};
inline constexpr std::array kKinds{Kind::histogram, Kind::cdf,  Kind::breakdown,
                                   Kind::forest,    Kind::bias, Kind::delay};

/// Returns the name of a kind: "histogram", "cdf", …
std::string_view name_of(Kind kind);
/// Finds the kind that has a name; nullopt if there is none.
std::optional<Kind> kind_from(std::string_view name);

}  // namespace skid::plots
