// Draws the shadow curve: the shares of several triggers by their distances.
#include "analysis/basis.h"
#include "analysis/delay.h"
#include "analysis/distributions.h"
#include "analysis/geometry.h"
#include "analysis/measurement.h"
#include "analysis/share.h"
#include "analysis/tally.h"
#include "analysis/wording.h"
#include "plots/axes.h"
#include "plots/drawing.h"
#include "plots/event_grid.h"
#include "plots/figure_kind.h"
#include "plots/kinds.h"
#include "plots/machines.h"
#include "plots/marks.h"
#include "plots/offset_axis.h"
#include "plots/selection.h"
#include "src/output/delay_text.h"
#include "src/output/report/grouping.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::plots {

struct FigureOptions;

namespace {

using analysis::Measurement;

/// Returns the instructions between each trigger and the previous one.
std::vector<double> gaps_of(const Measurement& m) {
  std::vector<double> gaps;
  const auto& distances = m.basis.geometry->trigger_distances;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const std::uint64_t before = distances[(i + distances.size() - 1) % distances.size()];
    gaps.push_back(static_cast<double>(before - 1));
  }
  return gaps;
}

std::string shadow_text(const Measurement& m) {
  if (!m.basis.equal_triggers) return "triggers of unequal rates";
  std::string text = m.delay ? fmt::format("delay {}, ", output::range_of(*m.delay)) : "";
  if (!m.bias) return text + "not tested";
  if (m.bias->largest_ratio) text += fmt::format("max/min {:.3g}, ", *m.bias->largest_ratio);
  return text + analysis::p_text(m.bias->p);
}

/// Returns a row for each trigger: the instructions before it, and the share of samples on it and
/// its runway with the interval.
Rows points_of(const Measurement& m) {
  const std::vector<double> gaps = gaps_of(m);
  std::uint64_t all = 0;
  for (const analysis::TriggerCount& trigger : m.triggers) all += trigger.samples;
  Rows points;
  for (std::size_t i = 0; i < gaps.size() && all > 0; ++i) {
    const analysis::Share share = analysis::wilson_interval(m.triggers[i].samples, all);
    points.push_back({gaps[i], 100 * share.value, 100 * share.low, 100 * share.high});
  }
  return points;
}

/// Returns the shares that the delay gives if overflows are at all triggers equally often.
Rows model_of(const Measurement& m) {
  const std::vector<double> gaps = gaps_of(m);
  const auto shares = analysis::shadowed_shares(m.basis.geometry->trigger_distances, m.delay->low);
  Rows line;
  for (std::size_t i = 0; i < shares.size(); ++i) line.push_back({gaps[i], 100 * shares[i]});
  return line;
}

Panel shadow_panel(const std::vector<Column>& columns, const EventGrid& grid) {
  Panel panel;
  double highest = 0;
  std::set<double> even;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Measurement& m = *columns[i].measurement;
    grid.add_caption(panel, columns[i], shadow_text(m));
    Rows points = points_of(m);
    if (points.empty()) continue;
    for (const auto& point : points) highest = std::max(highest, point[3]);
    // The factor puts levels beside each other anywhere on the logarithmic axis.
    panel.series.push_back(
        {fmt::format("$d using ((1+$1)*1.06**{}-1):2:3:4 with yerrorbars ls {} lw 1.2 dt 1", i,
                     grid.style_of(columns[i])),
         std::move(points)});
    if (m.delay) {
      panel.series.push_back(
          {"$d using 1:2 smooth unique with lines " + grid.line_of(columns[i]), model_of(m)});
    }
    if (m.basis.equal_triggers) even.insert(100 / static_cast<double>(m.triggers.size()));
  }
  for (const double share : even) {
    highest = std::max(highest, share);
    panel.marks.push_back(even_line(share));
  }
  if (panel.series.empty()) panel.marks = {kNothingLocated};
  panel.commands = {fmt::format("set yrange [0:{:.10g}]", std::max(highest * 1.1, 0.1))};
  return panel;
}

}  // namespace

Figure bias_figure(const Machines& all, const FigureOptions& options) {
  Machines machines = all;
  const std::size_t others =
      keep_measurements(machines, analysis::has_trigger_distances, Kind::bias,
                        "several triggers at known distances", "record a target with several");
  EventGrid grid("Which trigger samples fall on", machines, options);
  bool has_delay = false;
  grid.fill([&](const EventOnMachines& event, const std::vector<Column>& shown) {
    Panel panel = shadow_panel(shown, grid);
    double widest = 1;
    for (const Column& column : event.all) {
      has_delay |= column.measurement->delay.has_value();
      for (const double gap : gaps_of(*column.measurement)) widest = std::max(widest, gap);
    }
    const auto x = settings_of(Axis{-0.3, 1.6 * widest, true}, grid);
    panel.commands.insert(panel.commands.end(), x.begin(), x.end());
    return panel;
  });
  grid.add_line_keys(has_delay ? "with linespoints" : "with points");
  Figure& figure = grid.figure;
  figure.commands = {"set format y '%g%%'", "set grid ytics lw 0.3"};
  figure.x_label = "instructions between the trigger and the one before";
  figure.y_label = "share of samples";
  figure.note = fmt::format("points: samples with 95% intervals; {}dashed: the even share",
                            has_delay ? "lines: what the delay explains; " : "");
  if (others > 0) {
    figure.note +=
        fmt::format("; without {} of one trigger", analysis::counted(others, "measurement"));
  }
  return std::move(figure);
}

}  // namespace skid::plots
