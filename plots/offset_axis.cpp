#include "plots/offset_axis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace skid::plots {
namespace {

struct Range {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;

  void include(std::int64_t first, std::int64_t last) {
    lowest = std::min(lowest, first);
    highest = std::max(highest, last);
  }
  std::int64_t span() const { return highest - lowest + 1; }
};

}  // namespace

OffsetAxis choose_axis(const std::vector<Column>& columns, std::int64_t most_bins) {
  // Share of a measurement's samples that may be beyond either end of the axis.
  constexpr double kTail = 0.0005;
  // How many times longer than the central part the axis may be for the sake of the tails.
  constexpr std::int64_t kLongestTails = 4;
  // Shorter axes make a single bar as wide as the panel.
  constexpr std::int64_t kShortestSpan = 10;
  Range whole, central;
  std::int64_t unit = 1, group = 1;
  for (const Column& column : columns) {
    const analysis::Measurement& m = *column.measurement;
    unit = std::max(unit, m.bin_width);
    const auto& groups = m.retirement_groups;
    if (groups && groups->strongest) group = std::lcm(group, std::int64_t{*groups->strongest});
    const analysis::OffsetCounts& offsets = m.basis.tally.instructions;
    if (offsets.empty()) continue;
    whole.include(offsets.counts().begin()->first, offsets.counts().rbegin()->first);
    central.include(offsets.quantile(kTail), offsets.quantile(1 - kTail));
  }
  // Other bins have different numbers of groups: a comb that is not in the data.
  if (unit == 1) unit = group;
  Range range = whole.span() <= kLongestTails * central.span() ? whole : central;
  const std::int64_t missing = kShortestSpan * unit - range.span();
  if (missing > 0) range.include(range.lowest - missing / 2, range.highest + (missing + 1) / 2);

  OffsetAxis axis;
  const double units = static_cast<double>(range.span()) / static_cast<double>(unit);
  axis.width = unit * round_up_nicely(units / static_cast<double>(most_bins));
  axis.lowest = analysis::bin_of(range.lowest, axis.width) * axis.width;
  axis.highest = (analysis::bin_of(range.highest, axis.width) + 1) * axis.width - 1;
  return axis;
}

std::vector<std::string> settings_of(double low, double high, bool logarithmic,
                                     const EventGrid& grid) {
  const double longest = std::max(std::abs(low), std::abs(high));
  const double characters = logarithmic ? 6 : 3 + std::log10(longest + 1);
  const double labels = std::max(1.0, grid.plot_width() / grid.figure.paper.width_of(characters));
  const std::string range = fmt::format("set xrange [{:.10g}:{:.10g}]", low, high);
  if (!logarithmic) {
    return {"unset nonlinear x; set format x '%.0f'", range,
            fmt::format("set xtics {}", round_up_nicely((high - low) / labels))};
  }
  const double decades = std::log10(1 + std::abs(low)) + std::log10(1 + std::abs(high));
  const double step = std::max(1.0, std::ceil(decades / labels));
  return {
      "set nonlinear x via sgn(x)*log10(1+abs(x)) inverse sgn(x)*(10**abs(x)-1); set format x "
      "'%.0s%c'",
      range,
      fmt::format("set xtics (0); set for [k={}:18:{}] xtics add (10.**k, -10.**k)",
                  step > 1 ? step : 0, step)};
}

std::vector<std::string> settings_of_bins(const OffsetAxis& axis, const EventGrid& grid) {
  const double pad = 0.015 * static_cast<double>(axis.highest - axis.lowest + 1);
  return settings_of(static_cast<double>(axis.lowest) - 0.5 - pad,
                     static_cast<double>(axis.highest) + 0.5 + pad, false, grid);
}

std::vector<std::string> settings_of_lines(const OffsetAxis& axis, const EventGrid& grid) {
  constexpr std::int64_t kLongestLinear = 100;
  if (axis.highest - axis.lowest <= kLongestLinear) return settings_of_bins(axis, grid);
  return settings_of(std::min(-0.8, static_cast<double>(axis.lowest) * 1.3),
                     std::max(0.5, static_cast<double>(axis.highest) * 1.3), true, grid);
}

}  // namespace skid::plots
