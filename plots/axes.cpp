#include "plots/axes.h"

#include "plots/drawing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace skid::plots {
namespace {

/// The lower end of logarithmic axes.
constexpr double kHalfSample = 0.5;

double top_of(double highest, bool logarithmic) {
  return logarithmic ? std::max(10.0, highest) * 1.5 : std::max(1.0, highest) * 1.08;
}

}  // namespace

double Axis::place_of(double value) const {
  const auto scaled = [this](double x) {
    return logarithmic ? std::copysign(std::log10(1 + std::abs(x)), x) : x;
  };
  return (scaled(value) - scaled(low)) / (scaled(high) - scaled(low));
}

double count_height(double count, double highest, bool logarithmic) {
  const double top = top_of(highest, logarithmic);
  if (!logarithmic) return count / top;
  return std::log(std::max(kHalfSample, count) / kHalfSample) / std::log(top / kHalfSample);
}

std::vector<std::string> count_axis(double highest, bool logarithmic, bool is_low) {
  const double top = top_of(highest, logarithmic);
  // There are only as many tics as the lowest plots have room for.
  const std::int64_t step = round_up_nicely(top / (is_low ? 3 : 5));
  // Numbers have only as many digits as the margin has room for.
  double unit = 1;
  while (highest >= 1e6 && unit * 1000 <= top) unit *= 1000;
  const bool is_whole = std::fmod(static_cast<double>(step), unit) == 0 || logarithmic;
  return {fmt::format("set yrange [{}:{:.10g}]", logarithmic ? kHalfSample : 0, top),
          fmt::format("set format y '{}'", unit == 1  ? "%.0f"
                                           : is_whole ? "%.0s%c"
                                                      : "%.1s%c"),
          logarithmic ? "set ytics autofreq" : fmt::format("set ytics {}", step)};
}

}  // namespace skid::plots
