// Draws the instructions from the overflow of the counter to the recorded event, level by level.
#include "analysis/delay.h"

#include "analysis/basis.h"
#include "analysis/measurement.h"
#include "analysis/wording.h"
#include "plots/axes.h"
#include "plots/drawing.h"
#include "plots/event_grid.h"
#include "plots/figure_kind.h"
#include "plots/kinds.h"
#include "plots/machines.h"
#include "plots/offset_axis.h"
#include "plots/selection.h"
#include "src/output/delay_text.h"
#include "src/output/report/grouping.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::plots {

struct FigureOptions;

namespace {

using analysis::Measurement;

bool has_delay(const Measurement& m) {
  return m.delay && m.basis.sample_pairs;
}

/// Returns a row for each delay with records: the delay, and the share of the records up to it.
Rows steps_of_delays(const Measurement& m, double highest) {
  const auto delays = analysis::delays_of(*m.basis.sample_pairs);
  Rows steps{{0, 0}};
  std::uint64_t sum = 0;
  for (const auto& [delay, count] : delays.counts()) {
    sum += count;
    steps.push_back({static_cast<double>(delay),
                     100 * static_cast<double>(sum) / static_cast<double>(delays.total())});
  }
  steps.push_back({highest, 100});
  return steps;
}

}  // namespace

Figure delay_figure(const Machines& all, const FigureOptions& options) {
  Machines machines = all;
  keep_measurements(machines, has_delay, Kind::delay, "a delay from overflow to record",
                    "record the delay, too");
  EventGrid grid("From overflow to record", machines, options);
  grid.fill([&](const EventOnMachines& event, const std::vector<Column>& shown) {
    double longest = 1;
    for (const Column& column : event.all) {
      longest = std::max(longest, static_cast<double>(column.measurement->delay->p95));
    }
    const double highest = 1.2 * longest + 1;  // beyond most of the records
    const Axis axis{0, highest};
    Panel panel{.commands = settings_of(axis, grid)};
    for (const Column& column : shown) {
      const Measurement& m = *column.measurement;
      const std::string text =
          fmt::format("delay {}, predicts {} of next samples", output::range_of(*m.delay),
                      analysis::percent(m.delay->predicted));
      grid.add_caption(panel, column, text);
      panel.series.push_back(
          {"$d using 1:2 with steps " + grid.line_of(column), steps_of_delays(m, highest)});
    }
    if (shown.size() > 1) grid.add_names(panel, shown, share_height, axis);
    return panel;
  });
  grid.figure.x_label = "instructions from overflow to record";
  grid.figure.y_label = "records up to here";
  grid.figure.commands = kShareAxis;
  grid.figure.least_lines = kLeastShareLines;
  return std::move(grid.figure);
}

}  // namespace skid::plots
