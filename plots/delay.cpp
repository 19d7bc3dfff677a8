// The instructions from the overflow of the counter to the recorded event, level by level.
#include "analysis/delay.h"

#include "analysis/wording.h"
#include "plots/kinds.h"
#include "plots/offset_bins.h"

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
Rows line_of_delays(const Measurement& m, double highest) {
  const auto delays = analysis::delays_of(*m.basis.sample_pairs);
  Rows line{{0, 0}};
  std::uint64_t sum = 0;
  for (const auto& [delay, count] : delays.counts()) {
    const auto x = static_cast<double>(delay);
    line.push_back({x, line.back()[1]});
    sum += count;
    line.push_back({x, 100 * static_cast<double>(sum) / static_cast<double>(delays.total())});
  }
  line.push_back({highest, 100});
  return line;
}

Panel delay_panel(const std::vector<output::Column>& columns, const OffsetScale& scale,
                  const Paper& paper) {
  Panel panel;
  std::map<int, std::size_t> of_level;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Measurement& m = *columns[i].measurement;
    const std::string line = line_of(columns[i].level, of_level[columns[i].level]++);
    panel.title += fmt::format("{}{}:  delay {}", i > 0 ? "\n" : "", columns[i].label,
                               analysis::range_of(*m.delay));
    if (paper.caption && !paper.is_narrow()) {
      panel.title += fmt::format(", predicts {} of next samples, {}",
                                 analysis::percent(m.delay->predicted), samples_text({&m}));
    }
    Rows delays = line_of_delays(m, scale.high);
    const double height =
        100 * static_cast<double>(i + 1) / static_cast<double>(columns.size() + 1);
    panel.marks.push_back(
        name_at_height(height, delays, scale, paper.quoted(columns[i].label), line));
    panel.series.push_back({"using 1:2 with lines " + line, std::move(delays)});
  }
  return panel;
}

}  // namespace

Figure delay_figure(const Machines& all, const FigureOptions& options) {
  Machines machines = all;
  keep_measurements(machines, has_delay, Kind::delay, "a delay from overflow to record",
                    "record --delay");
  EventGrid grid("How long after the overflow a record is written", machines, options);
  grid.fill([&](const EventOnMachines& event, const output::EventGroup& group) {
    constexpr double kMargin = 1.2;  // beyond most of the records
    std::uint64_t longest = 1;
    for (const auto& column : event.columns()) {
      longest = std::max(longest, column.measurement->delay->p95);
    }
    const auto highest = static_cast<std::int64_t>(kMargin * static_cast<double>(longest)) + 1;
    const OffsetScale scale = linear_scale({0, highest, 1});
    Panel panel = delay_panel(group.columns, scale, grid.figure.paper);
    panel.commands = scale.settings(grid.plot_width(), grid.figure.paper);
    return std::vector<std::optional<Panel>>{std::move(panel)};
  });
  grid.figure.x_label = "instructions from overflow to record";
  grid.figure.y_label = "records up to here";
  grid.figure.commands = kShareAxis;
  return std::move(grid.figure);
}

}  // namespace skid::plots
