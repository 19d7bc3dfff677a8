#include "plots/offset_axis.h"

#include "analysis/basis.h"
#include "analysis/histogram.h"
#include "analysis/measurement.h"
#include "analysis/offset_counts.h"
#include "analysis/retirement_groups.h"
#include "analysis/tally.h"
#include "plots/axes.h"
#include "plots/drawing.h"
#include "plots/event_grid.h"
#include "src/output/report/grouping.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace skid::plots {

OffsetAxis choose_axis(const std::vector<Column>& columns, std::int64_t most_bins) {
  // The share of a measurement's samples that may be beyond either end of the axis.
  constexpr double kTail = 0.0005;
  // How many times longer than the central part the axis may be for the sake of the tails.
  constexpr std::int64_t kLongestTails = 4;
  // Shorter axes make a single bar as wide as the panel.
  constexpr std::int64_t kShortestSpan = 10;
  // The ends of all samples, and of the central part.
  std::int64_t lowest = 0, highest = 0, first = 0, last = 0;
  std::int64_t unit = 1, group = 1;
  for (const Column& column : columns) {
    const analysis::Measurement& m = *column.measurement;
    unit = std::max(unit, m.bin_width);
    const auto& groups = m.retirement_groups;
    if (groups && groups->strongest) group = std::lcm(group, std::int64_t{*groups->strongest});
    const analysis::OffsetCounts& offsets = m.basis.tally.instructions;
    if (offsets.empty()) continue;
    lowest = std::min(lowest, offsets.counts().begin()->first);
    highest = std::max(highest, offsets.counts().rbegin()->first);
    first = std::min(first, offsets.quantile(kTail));
    last = std::max(last, offsets.quantile(1 - kTail));
  }
  // Bins with different numbers of groups would show a comb that is not in the data.
  if (unit == 1) unit = group;
  if (highest - lowest < kLongestTails * (last - first + 1)) {
    first = lowest;
    last = highest;
  }
  const std::int64_t missing = std::max<std::int64_t>(0, kShortestSpan * unit - (last - first + 1));
  first -= missing / 2;
  last += (missing + 1) / 2;

  OffsetAxis axis;
  const double units = static_cast<double>(last - first + 1) / static_cast<double>(unit);
  axis.width = unit * round_up_nicely(units / static_cast<double>(most_bins));
  axis.lowest = analysis::bin_of(first, axis.width) * axis.width;
  axis.highest = (analysis::bin_of(last, axis.width) + 1) * axis.width - 1;
  return axis;
}

Axis drawn(const OffsetAxis& axis, bool has_lines) {
  constexpr double kLongestLinear = 100, kPad = 0.015;
  const double low = static_cast<double>(axis.lowest) - 0.5;
  const double high = static_cast<double>(axis.highest) + 0.5;
  const double pad = kPad * (high - low);
  if (!has_lines || high - low <= kLongestLinear) return {low - pad, high + pad};
  return {std::min(-0.8, 1.3 * low), std::max(0.5, 1.3 * high), true};
}

std::vector<std::string> settings_of(const Axis& axis, const EventGrid& grid) {
  const auto& [low, high, logarithmic] = axis;
  const double longest = std::max(std::abs(low), std::abs(high));
  const double characters = logarithmic ? 6 : 5 + std::log10(longest + 1);
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

}  // namespace skid::plots
