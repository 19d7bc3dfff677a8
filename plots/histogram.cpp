#include "plots/kinds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::Measurement;
using analysis::SampleClass;
using output::Column;

/// Where a logarithmic axis begins: below a single sample, so that its bar is visible.
constexpr double kLowestLog = 0.5;

Axis samples_axis(std::uint64_t highest, int height, bool logarithmic) {
  const auto number = [](double at) { return fmt::format("{:.0f}", at); };
  Axis axis{.label = "samples", .logarithmic = logarithmic, .grid = true};
  if (!logarithmic) {
    axis.high = std::max(1.0, static_cast<double>(highest) * 1.08);
    axis.tics =
        tics(0, axis.high, static_cast<double>(round_up_nicely(axis.high * 36.0 / height)), number);
    return axis;
  }
  axis.low = kLowestLog;
  // At least a decade, so that the axis has two numbers.
  axis.high = std::max(10.0, static_cast<double>(highest)) * 1.5;
  const double decades = std::ceil(std::log10(axis.high));
  const double step = std::pow(10, std::max(1.0, std::ceil(decades * 20.0 / height)));
  for (double at = 1; at <= axis.high; at *= step) axis.tics.push_back({at, number(at)});
  return axis;
}

/// Boxes by class. Classes differ in their place, too: plain colours are enough.
std::vector<Boxes> boxes_of(const Bars& bars, const Column& column, const OffsetAxis& axis,
                            double floor) {
  std::map<SampleClass, Boxes> boxes;
  const std::uint64_t located = column.measurement->samples.located();
  for (const Bar& bar : bars.bars) {
    Boxes& of_class = boxes[bar.sample_class];
    of_class.fill = {fill_of(bar.sample_class).color};
    of_class.boxes.push_back(
        {bar.left,
         bar.right,
         std::max(floor, static_cast<double>(bar.bottom)),
         static_cast<double>(bar.bottom + bar.count),
         {fmt::format("{}, offset {}", column.label,
                      offsets_of(bar.lo, bar.sample_class == SampleClass::hit, axis)),
          count_and_share(bar.count, located, "the located") + ", " +
              std::string(analysis::words_for(bar.sample_class))}});
  }
  std::vector<Boxes> result;
  for (auto& [ignored, of_class] : boxes) result.push_back(std::move(of_class));
  return result;
}

/// `floor`: the height of bins without a sample.
Curve outline_of(const Bars& bars, const OffsetAxis& axis, LineStyle style, double floor) {
  std::map<double, std::uint64_t> heights;  // by the left side
  for (const Bar& bar : bars.bars) heights[bar.left] = bar.bottom + bar.count;
  Curve outline{std::move(style), {}};
  const auto add = [&](double left, double right) {
    const auto found = heights.find(left);
    const double height = found == heights.end() ? floor : static_cast<double>(found->second);
    outline.points.emplace_back(left, height);
    outline.points.emplace_back(right, height);
  };
  for (std::int64_t lo = axis.lowest; lo <= axis.highest; lo += axis.width) {
    const double left = static_cast<double>(lo) - 0.5;
    const double right = left + static_cast<double>(axis.width);
    const double middle = lo == 0 ? end_of_hits(axis) : right;
    add(left, middle);
    if (middle < right) add(middle, right);
  }
  return outline;
}

Panel overlaid_panel(const std::vector<Column>& columns, const OffsetAxis& axis, int plot_width,
                     bool logarithmic) {
  Panel panel{.height = panel_height(1), .x = offset_axis(axis, plot_width, true)};
  std::uint64_t highest = 0;
  for (const Column& column : columns) {
    const Bars bars = bars_of(*column.measurement, axis);
    highest = std::max(highest, bars.highest);
    const LineStyle style = line_style_of(column.level);
    panel.captions.push_back(
        {column.label + ":  " + samples_and_hits(*column.measurement, bars.beyond), style});
    panel.curves.push_back(outline_of(bars, axis, style, logarithmic ? kLowestLog : 0));
  }
  panel.y = samples_axis(highest, panel.height, logarithmic);
  panel.rules = {trigger_rule(panel.y)};
  return panel;
}

}  // namespace

Figure histogram_figure(const Machines& machines, const HistogramStyle& style) {
  constexpr int kPixelsPerBin = 6;
  Figure figure = begin_figure("Where samples land", machines);
  const std::vector<NamedEvent> events = events_in_blocks(machines, figure);
  const int height = panel_height(most_columns(events));
  std::set<SampleClass> present;
  for (const auto& [event, name] : events) {
    const std::vector<Column>& columns = event->columns;
    const OffsetAxis axis = choose_axis(columns, figure.plot_width / kPixelsPerBin);
    Block block{name};
    if (style.arrangement == Arrangement::overlaid) {
      block.panels.push_back(overlaid_panel(columns, axis, figure.plot_width, style.logarithmic));
    } else {
      for (const Column& column : columns) {
        const Bars bars = bars_of(*column.measurement, axis);
        Panel panel{.height = height,
                    .captions = {{column.label + ":  " +
                                  samples_and_hits(*column.measurement, bars.beyond)}},
                    .x = offset_axis(axis, figure.plot_width, &column == &columns.back()),
                    .y = samples_axis(bars.highest, height, style.logarithmic),
                    .boxes = boxes_of(bars, column, axis, style.logarithmic ? kLowestLog : 0)};
        for (const Bar& bar : bars.bars) present.insert(bar.sample_class);
        if (bars.bars.empty()) {
          show_nothing_located(panel);
        } else {
          panel.rules = {trigger_rule(panel.y)};
        }
        block.panels.push_back(std::move(panel));
      }
    }
    figure.blocks.push_back(std::move(block));
  }
  for (const SampleClass sample_class : present) {
    figure.legend.push_back(
        {Fill{fill_of(sample_class).color}, std::string(analysis::words_for(sample_class))});
  }
  return figure;
}

}  // namespace skid::plots
