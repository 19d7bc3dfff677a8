// The instructions from the overflow of the counter to the recorded event, level by level.
#include "analysis/delay.h"

#include "analysis/wording.h"
#include "plots/kinds.h"
#include "src/support/error.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::Measurement;

bool has_delay(const Measurement& m) {
  return m.delay && m.basis.sample_pairs;
}

/// Steps up at each delay with records.
Curve curve_of(const output::Column& column, const LineStyle& style, double highest) {
  const auto delays = analysis::delays_of(*column.measurement->basis.sample_pairs);
  Curve curve{style, {{0, 0}}};
  std::uint64_t sum = 0;
  for (const auto& [delay, count] : delays.counts()) {
    const auto x = static_cast<double>(delay);
    curve.points.emplace_back(x, curve.points.back().second);
    sum += count;
    curve.points.emplace_back(x,
                              100 * static_cast<double>(sum) / static_cast<double>(delays.total()));
  }
  curve.points.emplace_back(highest, 100);
  return curve;
}

Panel delay_panel(const std::vector<output::Column>& columns, int plot_width) {
  constexpr double kMargin = 1.2;  // beyond most of the records
  std::uint64_t longest = 1;
  for (const auto& column : columns) longest = std::max(longest, column.measurement->delay->p95);
  const auto highest = static_cast<std::int64_t>(kMargin * static_cast<double>(longest)) + 1;
  Panel panel{.height = panel_height(1), .x = offset_axis({0, highest, 1}, plot_width, true)};
  panel.x.label = "instructions from overflow to record";
  panel.y = {.low = -2,
             .high = 102,
             .tics = tics(0, 100, 20, [](double at) { return fmt::format("{:.0f}%", at); }),
             .label = "records up to here"};
  std::map<int, int> lines_of_level;
  for (const auto& column : columns) {
    const Measurement& m = *column.measurement;
    LineStyle style = line_style_of(column.level);
    style.dashes = dashes_of(lines_of_level[column.level]++);
    panel.captions.push_back({fmt::format("{}:  delay {}, predicts {} of next samples, {}",
                                          column.label, analysis::range_of(*m.delay),
                                          analysis::percent(m.delay->predicted), samples_text(m)),
                              style});
    panel.curves.push_back(curve_of(column, style, panel.x.high));
  }
  return panel;
}

}  // namespace

Figure delay_figure(const Machines& all) {
  Machines machines = all;
  const std::size_t others = keep_measurements(machines, has_delay);
  if (machines.empty()) {
    throw UsageError(fmt::format(
        "--kind delay: no measurement with a delay from overflow to record ({} others); "
        "record --delay makes them",
        others));
  }
  Figure figure = begin_figure("How long after the overflow a record is written", machines);
  for (const auto& [event, name] : events_in_blocks(machines, figure)) {
    figure.blocks.push_back({name, {delay_panel(event->columns, figure.plot_width)}});
  }
  return figure;
}

}  // namespace skid::plots
