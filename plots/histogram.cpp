#include "analysis/histogram.h"

#include "analysis/basis.h"
#include "analysis/measurement.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "plots/axes.h"
#include "plots/drawing.h"
#include "plots/event_grid.h"
#include "plots/figure_options.h"
#include "plots/kinds.h"
#include "plots/labels.h"
#include "plots/machines.h"
#include "plots/marks.h"
#include "plots/offset_axis.h"
#include "src/output/report/grouping.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::kLocatedClasses;

/// Returns a row for each bin that begins at one of `begins`: its left side, and the samples of its
/// classes. Hits are at 0, the others of a wider bin after it.
Rows rows_of(const analysis::Histogram& histogram, const std::set<std::int64_t>& begins) {
  Rows rows;
  for (const std::int64_t lo : begins) rows.push_back({static_cast<double>(lo) - 0.5, 0, 0, 0, 0});
  for (const analysis::Bin& bin : histogram.bins) {
    for (std::size_t i = 0; i < kLocatedClasses; ++i) {
      const bool is_hit = i == static_cast<std::size_t>(analysis::SampleClass::hit);
      const std::int64_t offset = is_hit ? 0 : bin.lo == 0 && bin.hi > 1 ? 1 : bin.lo;
      const auto after = std::distance(begins.begin(), begins.upper_bound(offset));
      rows[static_cast<std::size_t>(after) - 1][i + 1] += static_cast<double>(bin.by_class.at(i));
    }
  }
  return rows;
}

/// Returns the rows of bars for the bins of `axis`, with the right side of each at its end. Hits
/// have a bin of one offset.
Rows bins_of(const analysis::Histogram& histogram, const OffsetAxis& axis) {
  std::set<std::int64_t> begins{0, 1};
  for (auto lo = axis.lowest; lo <= axis.highest + 1; lo += axis.width) begins.insert(lo);
  Rows rows = rows_of(histogram, begins);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].push_back(i + 1 < rows.size() ? rows[i + 1].front()
                                          : rows[i].front() + static_cast<double>(axis.width));
  }
  return rows;
}

/// Returns the rows of an outline, which rises from the axis. Hits have a bin of one offset. Other
/// bins are as wide as those of `axis`, or a tenth of the offset if the axis is logarithmic.
Rows outline_of(const analysis::Histogram& histogram, const OffsetAxis& axis, bool logarithmic) {
  const auto step = [&](std::int64_t offset) {
    return std::max(axis.width, logarithmic ? offset / 10 / axis.width * axis.width : 0);
  };
  std::set<std::int64_t> begins{axis.lowest, 0, 1, axis.highest + 1};
  for (auto lo = axis.width; lo <= axis.highest; lo += step(lo)) begins.insert(lo);
  for (auto lo = -axis.width; lo > axis.lowest; lo -= step(-lo)) begins.insert(lo);
  Rows rows = rows_of(histogram, begins);
  rows.insert(rows.begin(), {static_cast<double>(axis.lowest) - 0.5, 0, 0, 0, 0});
  return rows;
}

/// Makes the panel of measurements: bins stacked by class, or outlines.
Panel bins_panel(const std::vector<Column>& columns, const OffsetAxis& axis,
                 const FigureOptions& options, bool overlaid, const EventGrid& grid) {
  // A logarithmic axis begins below a single sample, so that its bar is visible.
  const double floor = options.logarithmic ? 0.5 : 0;
  const Axis across = drawn(axis, overlaid);
  Panel panel{.commands = settings_of(across, grid), .marks = {kTriggerLine}};
  double highest = 0;
  std::vector<Column> lines;
  const auto count_of = [](const Rows::value_type& row) {
    return std::accumulate(row.begin() + 1, row.begin() + 1 + kLocatedClasses, 0.0);
  };
  for (const Column& column : columns) {
    const analysis::Measurement& m = *column.measurement;
    const auto histogram = histogram_of(
        m.basis.tally, {axis.lowest, axis.highest, overlaid ? m.bin_width : axis.width});
    if (options.caption || columns.size() == 1) {
      grid.add_caption(panel, column, hits_text(m, histogram.underflow + histogram.overflow));
    }
    if (histogram.bins.empty()) continue;
    lines.push_back(column);
    Rows rows =
        overlaid ? outline_of(histogram, axis, across.logarithmic) : bins_of(histogram, axis);
    for (const auto& row : rows) highest = std::max(highest, count_of(row));
    panel.series.push_back(
        {overlaid
             ? fmt::format("$d using 1:(max({},upto(4))) with steps {}", floor,
                           grid.line_of(column, columns.size() - static_cast<std::size_t>(
                                                                     &column - columns.data())))
             : fmt::format("for [c=1:4] $d using 1:(shown(c)):1:6:"
                           "(max({0},upto(c-1))):(max({0},upto(c))) with boxxyerror "
                           "lc rgb class[c]",
                           floor),
         std::move(rows)});
    const double hits = static_cast<double>(m.samples[analysis::SampleClass::hit]);
    if (!overlaid && axis.width > 1 && hits > 0) {
      // Beside wide bins the bar of hits can be narrower than a pixel.
      panel.series.push_back({"$d using 1:2 with impulses lw 2 lc rgb class[1]", {{0, hits}}});
    }
  }
  if (overlaid && columns.size() > 1) {
    const auto height_of = [&](const Rows::value_type& row) {
      return count_height(count_of(row), highest, options.logarithmic);
    };
    grid.add_names(panel, lines, height_of, across);
  }
  if (panel.series.empty()) panel.marks = {kNothingLocated};
  const auto y = count_axis(highest, options.logarithmic, options.height.has_value());
  panel.commands.insert(panel.commands.end(), y.begin(), y.end());
  if (across.logarithmic) {
    panel.remark = ", bins of 10%";
  } else if (axis.width > 1) {
    panel.remark = fmt::format(", bins of {}", axis.width);
  }
  return panel;
}

/// Whether panels for each level would be too many below each other.
bool is_high(const Machines& machines, const FigureOptions& options) {
  EventGrid grid({}, machines, options, true);
  grid.fill([](const EventOnMachines&, const std::vector<Column>&) { return Panel(); });
  return grid.figure.panels.size() > kMostPanelRows * grid.figure.columns;
}

}  // namespace

Figure histogram_figure(const Machines& machines, const FigureOptions& options) {
  constexpr double kPixelsPerBin = 6;
  const bool overlaid = options.arrangement ? *options.arrangement == Arrangement::overlaid
                                            : is_high(machines, options);
  EventGrid grid("Where samples land", machines, options, !overlaid);
  const auto most_bins = overlaid
                             ? analysis::kLongestAxis
                             : static_cast<std::int64_t>(grid.plot_width() / kPixelsPerBin) + 1;
  analysis::Breakdown all;
  grid.fill([&](const EventOnMachines& event, const std::vector<Column>& shown) {
    const OffsetAxis axis = choose_axis(event.all, most_bins);
    for (const Column& column : shown) all += column.measurement->samples;
    return bins_panel(shown, axis, options, overlaid, grid);
  });
  if (!overlaid) add_class_keys(grid.figure, all, kLocatedClasses);
  if (options.logarithmic) grid.figure.commands = {"set logscale y"};
  grid.figure.x_label = "offset from trigger (instructions)";
  grid.figure.y_label = "samples";
  return std::move(grid.figure);
}

}  // namespace skid::plots
