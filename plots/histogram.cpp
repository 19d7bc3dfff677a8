#include "plots/kinds.h"
#include "plots/offset_axis.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::kLocatedClasses;

/// The left side of each bin of `axis`, and the samples of its classes. An outline rises from the
/// axis, and its hits have a bin of one offset.
Rows bins_of(const analysis::Histogram& histogram, const OffsetAxis& axis, bool is_outline) {
  Rows rows;
  for (std::int64_t lo = axis.lowest; lo <= axis.highest + 1; lo += axis.width) {
    rows.push_back({static_cast<double>(lo) - 0.5, 0, 0, 0, 0});
  }
  for (const analysis::Bin& bin : histogram.bins) {
    auto& row = rows.at(static_cast<std::size_t>((bin.lo - axis.lowest) / axis.width));
    std::copy(bin.by_class.begin(), bin.by_class.end(), row.begin() + 1);
  }
  const auto zero = rows.begin() - axis.lowest / axis.width;
  if (is_outline && axis.width > 1) {
    const double hits = std::exchange((*zero)[1], 0);
    (*zero)[0] = 0.5;
    rows.insert(zero, {-0.5, hits, 0, 0, 0});
  }
  if (is_outline) rows.insert(rows.begin(), {rows.front()[0], 0, 0, 0, 0});
  return rows;
}

/// The bins of these measurements: stacked by class, or their outlines.
Panel bins_panel(const std::vector<Column>& columns, const OffsetAxis& axis,
                 const FigureOptions& options, const EventGrid& grid) {
  // A logarithmic axis begins below a single sample, so that its bar is visible.
  const double floor = options.logarithmic ? 0.5 : 0;
  const bool overlaid = options.arrangement == Arrangement::overlaid;
  Panel panel{.commands = settings_of(axis, overlaid, grid), .marks = {kTriggerLine}};
  std::uint64_t highest = 0;
  std::vector<Column> lines;
  for (const Column& column : columns) {
    const analysis::Measurement& m = *column.measurement;
    const auto histogram = histogram_of(m.basis.tally, axis);
    for (const analysis::Bin& bin : histogram.bins) highest = std::max(highest, bin.count);
    if (options.caption || columns.size() == 1) {
      grid.add_caption(panel, column, hits_text(m, histogram.underflow + histogram.overflow));
    }
    if (histogram.bins.empty()) continue;
    lines.push_back(column);
    panel.series.push_back(
        {overlaid ? fmt::format("$d using 1:(max({},upto(4))) with steps {}", floor,
                                grid.line_of(column))
                  : fmt::format("for [c=1:4] $d using 1:(shown(c)):1:($1+{0}):"
                                "(max({1},upto(c-1))):(max({1},upto(c))) with boxxyerror "
                                "lc rgb class[c]",
                                axis.width, floor),
         bins_of(histogram, axis, overlaid)});
  }
  if (panel.series.empty()) panel.marks = {kNothingLocated};
  const auto most = static_cast<double>(highest);
  const auto height_of = [&](const Rows::value_type& row) {
    return count_height(std::accumulate(row.begin() + 1, row.end(), 0.0), most,
                        options.logarithmic);
  };
  if (overlaid) grid.add_names(panel, lines, height_of, static_cast<double>(axis.highest));
  const auto y = count_axis(most, options.logarithmic);
  panel.commands.insert(panel.commands.end(), y.begin(), y.end());
  if (axis.width > 1) panel.remark = fmt::format(", bins of {}", axis.width);
  return panel;
}

}  // namespace

Figure histogram_figure(const Machines& machines, const FigureOptions& options) {
  constexpr double kPixelsPerBin = 6;
  EventGrid grid("Where samples land", machines, options);
  const auto most_bins = static_cast<std::int64_t>(grid.plot_width() / kPixelsPerBin) + 1;
  const bool overlaid = options.arrangement == Arrangement::overlaid;
  analysis::Breakdown all;
  grid.fill(!overlaid, [&](const EventOnMachines& event, const std::vector<Column>& shown) {
    const OffsetAxis axis = choose_axis(event.all, most_bins);
    for (const Column& column : shown) all += column.measurement->samples;
    return bins_panel(shown, axis, options, grid);
  });
  if (!overlaid) add_class_keys(grid.figure, all, kLocatedClasses);
  if (options.logarithmic) grid.figure.commands = {"set logscale y"};
  grid.figure.x_label = "offset from trigger (instructions)";
  grid.figure.y_label = "samples";
  return std::move(grid.figure);
}

}  // namespace skid::plots
