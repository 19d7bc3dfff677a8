// Shares of several triggers by their distance: the shadow curve.
#include "analysis/wording.h"
#include "plots/kinds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::plots {
namespace {

using analysis::Measurement;
using analysis::TriggerCount;
using output::Column;

double percent_of(double share) {
  return 100 * share;
}

/// The place on the axis for instructions between a trigger and the one before it; 0 has a place
/// too.
double position(std::uint64_t between) {
  return std::log2(static_cast<double>(between) + 1);
}

/// Instructions between each trigger and the one before.
std::vector<std::uint64_t> gaps_of(const Measurement& m) {
  std::vector<std::uint64_t> gaps;
  const auto& distances = m.basis.geometry->trigger_distances;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    gaps.push_back(distances[(i + distances.size() - 1) % distances.size()] - 1);
  }
  return gaps;
}

/// The most important first: a long text is cut at its end.
std::string shadow_caption(const Column& column, const Paper& paper) {
  const Measurement& m = *column.measurement;
  std::string text = column.label + ":  ";
  if (!m.basis.equal_triggers) {
    text += "triggers of unequal rates, ";
  } else if (m.bias) {
    if (m.delay) text += fmt::format("delay {}, ", analysis::range_of(*m.delay));
    text += analysis::p_text(m.bias->p) + ", ";
    if (m.bias->largest_ratio) text += fmt::format("max/min {:.3g}, ", *m.bias->largest_ratio);
  }
  if (!paper.caption || paper.is_narrow()) return text.substr(0, text.rfind(','));
  return text + samples_text({&m}) + std::string(output::origin_word(output::origin_of(m)));
}

/// The logarithmic axis of instructions between triggers.
std::vector<std::string> gap_axis(const EventOnMachines& event, double plot_width,
                                  const Paper& paper) {
  constexpr double kMargin = 0.5;
  std::uint64_t widest = 1;
  for (const Column& column : event.columns()) {
    for (const std::uint64_t gap : gaps_of(*column.measurement)) widest = std::max(widest, gap);
  }
  const double low = -kMargin, high = position(widest) + kMargin;
  const double label = paper.width_of(5);
  const double step = std::max(1.0, std::ceil(label * (high - low) / plot_width));
  std::vector<std::string> tics{"'0' 0"};
  for (double power = 0; std::exp2(power) <= static_cast<double>(widest); power += step) {
    const auto gap = static_cast<std::uint64_t>(std::exp2(power));
    tics.push_back(fmt::format("'{}' {:.10g}", gap, position(gap)));
  }
  return {fmt::format("set xrange [{:.10g}:{:.10g}]", low, high),
          fmt::format("set xtics ({})", fmt::join(tics, ", "))};
}

/// The samples of each trigger and its runway, with intervals: share, place, ends. `shift`: beside
/// those of other levels.
Rows points_of(const Measurement& m, double shift) {
  const std::vector<std::uint64_t> gaps = gaps_of(m);
  std::uint64_t all = 0;
  for (const TriggerCount& trigger : m.triggers) all += trigger.samples;
  Rows points;
  for (std::size_t i = 0; i < gaps.size() && all > 0; ++i) {
    const analysis::Share share = analysis::wilson_interval(m.triggers[i].samples, all);
    points.push_back({position(gaps[i]) + shift, percent_of(share.value), percent_of(share.low),
                      percent_of(share.high)});
  }
  return points;
}

/// The shares that the delay gives where overflows are at all triggers equally often.
Rows model_of(const Measurement& m) {
  const std::vector<std::uint64_t> gaps = gaps_of(m);
  const auto shares = analysis::shadowed_shares(m.basis.geometry->trigger_distances, m.delay->low);
  Rows line;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    line.push_back({position(gaps[i]), percent_of(shares[i])});
  }
  std::stable_sort(line.begin(), line.end(),
                   [](const auto& a, const auto& b) { return a[0] < b[0]; });
  return line;
}

Panel shadow_panel(const std::vector<Column>& columns, const Paper& paper) {
  constexpr double kBeside = 0.08;  // of the axis' unit
  Panel panel;
  double highest = 0, shift = -kBeside * static_cast<double>(columns.size() - 1) / 2;
  std::set<double> even;
  std::map<int, std::size_t> of_level;
  for (const Column& column : columns) {
    const Measurement& m = *column.measurement;
    panel.title += (&column == &columns.front() ? "" : "\n") + shadow_caption(column, paper);
    const std::size_t n = of_level[column.level]++;
    Rows points = points_of(m, shift);
    shift += kBeside;
    if (points.empty()) continue;
    for (const auto& point : points) highest = std::max(highest, point[3]);
    panel.series.push_back({fmt::format("using 1:2:3:4 with yerrorbars {} pt {} lw 1.2 dt 1",
                                        line_of(column.level), n == 0 ? 7 : 6),
                            std::move(points)});
    if (m.delay) {
      panel.series.push_back({"using 1:2 with lines " + line_of(column.level), model_of(m)});
    }
    if (m.basis.equal_triggers) even.insert(percent_of(1 / static_cast<double>(m.triggers.size())));
  }
  for (const double share : even) {
    highest = std::max(highest, share);
    panel.marks.push_back(even_line(share));
  }
  if (panel.series.empty()) show_nothing_located(panel);
  panel.commands = {fmt::format("set yrange [0:{:.10g}]", std::max(highest * 1.1, 0.1))};
  return panel;
}

}  // namespace

Figure bias_figure(const Machines& all, const FigureOptions& options) {
  Machines machines = all;
  const std::size_t others =
      keep_measurements(machines, analysis::has_trigger_distances, Kind::bias,
                        "several triggers at known distances", "record --triggers 4");
  EventGrid grid("Which trigger samples fall on", machines, options);
  grid.fill([&](const EventOnMachines& event, const output::EventGroup& group) {
    Panel panel = shadow_panel(group.columns, grid.figure.paper);
    const auto x = gap_axis(event, grid.plot_width(), grid.figure.paper);
    panel.commands.insert(panel.commands.end(), x.begin(), x.end());
    return std::vector<std::optional<Panel>>{std::move(panel)};
  });
  Figure& figure = grid.figure;
  figure.commands = {"set format y '%g%%'", "set grid ytics lw 0.3"};
  figure.x_label = "instructions between the trigger and the one before";
  figure.y_label = "share of samples";
  std::map<int, std::string> levels;
  for (const EventOnMachines& event : events_of(machines)) {
    for (const Column& column : event.columns()) {
      levels[column.level] = output::level_name(column.level);
    }
  }
  for (const auto& [level, name] : levels) {
    figure.keys.push_back({fmt::format("with linespoints {} pt 7", line_of(level)), name});
  }
  figure.head.emplace_back(
      "points: samples with 95% intervals; lines: what the delay explains; dashed: the even share");
  if (others > 0) {
    figure.head.back() +=
        fmt::format("; without {} of one trigger", analysis::counted(others, "measurement"));
  }
  return std::move(figure);
}

}  // namespace skid::plots
