// Shares of several triggers by their distance: the shadow curve.
#include "analysis/wording.h"
#include "plots/kinds.h"
#include "src/support/error.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

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
std::string caption_of(const Column& column) {
  const Measurement& m = *column.measurement;
  std::string text = column.label + ":  ";
  if (!m.basis.equal_triggers) {
    text += "triggers of unequal rates, ";
  } else if (m.bias) {
    if (m.delay) text += fmt::format("delay {}, ", analysis::range_of(*m.delay));
    text += analysis::p_text(m.bias->p) + ", ";
    if (m.bias->largest_ratio) text += fmt::format("max/min {:.3g}, ", *m.bias->largest_ratio);
  }
  return text + samples_and_hits(m, 0);
}

Axis gap_axis(std::uint64_t widest, int plot_width) {
  constexpr double kPixelsPerTic = 34, kMargin = 0.5;
  Axis axis{.low = -kMargin,
            .high = position(widest) + kMargin,
            .label = "instructions between the trigger and the one before"};
  const double step = std::max(1.0, std::ceil(kPixelsPerTic * (axis.high - axis.low) / plot_width));
  axis.tics.push_back({0, "0"});
  for (double power = 0; std::exp2(power) <= static_cast<double>(widest); power += step) {
    const auto gap = static_cast<std::uint64_t>(std::exp2(power));
    axis.tics.push_back({position(gap), fmt::format("{}", gap)});
  }
  return axis;
}

/// `highest`: per cent.
Axis share_axis(double highest, int height) {
  const double top = std::min(highest * 1.1, 105.0);
  const double step = std::max(top * 36.0 / height, 0.01);
  // Shares of many triggers are below 1%.
  const double unit = step >= 1 ? 1.0 : 0.01;
  return {.low = 0,
          .high = top,
          .tics = tics(0, top, static_cast<double>(round_up_nicely(step / unit)) * unit,
                       [](double at) { return fmt::format("{:.4g}%", at); }),
          .label = "share of samples",
          .grid = true};
}

/// The samples of each trigger and its runway, with intervals; `shift`: beside those of other
/// levels.
Points points_of(const Column& column, std::uint64_t all, Shape shape, double shift) {
  const Measurement& m = *column.measurement;
  const std::vector<std::uint64_t> gaps = gaps_of(m);
  Points points{.color = line_style_of(column.level).color, .shape = shape, .upright = true};
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const TriggerCount& trigger = m.triggers[i];
    const analysis::Share share = analysis::wilson_interval(trigger.samples, all);
    points.points.push_back(
        {position(gaps[i]) + shift,
         percent_of(share.value),
         percent_of(share.low),
         percent_of(share.high),
         {fmt::format("{}, trigger {}, {} after the one before", column.label, i + 1,
                      analysis::counted(gaps[i], "instruction")),
          fmt::format("{}, {} of them hits", count_and_share(trigger.samples, all, "all"),
                      trigger.hits)}});
  }
  return points;
}

/// The shares that the delay gives where overflows are at all triggers equally often.
Curve model_of(const Column& column) {
  const Measurement& m = *column.measurement;
  const std::vector<std::uint64_t> gaps = gaps_of(m);
  LineStyle style = line_style_of(column.level);
  style.width = std::max(1.0, style.width / 2);
  Curve curve{style, {}};
  const auto shares = analysis::shadowed_shares(m.basis.geometry->trigger_distances, m.delay->low);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    curve.points.emplace_back(position(gaps[i]), percent_of(shares[i]));
  }
  std::stable_sort(curve.points.begin(), curve.points.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return curve;
}

Panel shadow_panel(const std::vector<Column>& columns, int plot_width) {
  constexpr double kBeside = 0.08;  // of the axis' unit
  Panel panel{.height = panel_height(1)};
  std::uint64_t widest = 1;
  double highest = 0, shift = -kBeside * static_cast<double>(columns.size() - 1) / 2;
  std::set<double> even;
  std::map<int, int> seen;
  for (const Column& column : columns) {
    const Measurement& m = *column.measurement;
    panel.captions.push_back({caption_of(column), line_style_of(column.level)});
    for (const std::uint64_t gap : gaps_of(m)) widest = std::max(widest, gap);
    std::uint64_t all = 0;
    for (const TriggerCount& trigger : m.triggers) all += trigger.samples;
    const Shape shape = seen[column.level]++ == 0 ? Shape::disc : Shape::ring;
    if (all > 0) panel.points.push_back(points_of(column, all, shape, shift));
    if (m.delay) panel.curves.push_back(model_of(column));
    if (m.basis.equal_triggers) even.insert(percent_of(1 / static_cast<double>(m.triggers.size())));
    shift += kBeside;
  }
  panel.x = gap_axis(widest, plot_width);
  if (panel.points.empty()) {
    show_nothing_located(panel);
    return panel;
  }
  for (const Points& points : panel.points) {
    for (const Point& point : points.points) highest = std::max(highest, point.high);
  }
  panel.y = share_axis(std::max(highest, even.empty() ? 0 : *even.rbegin()), panel.height);
  for (const double share : even) {
    panel.rules.push_back(
        {panel.x.low, share, panel.x.high, share, {Color::black, 1.5, kDashed}, true});
  }
  return panel;
}

}  // namespace

bool has_trigger_distances(const Measurement& m) {
  return m.triggers.size() > 1 && m.basis.geometry &&
         m.basis.geometry->trigger_distances.size() == m.triggers.size();
}

Figure bias_figure(const Machines& all) {
  Machines machines = all;
  const std::size_t others = keep_measurements(machines, has_trigger_distances);
  if (machines.empty()) {
    throw UsageError(
        fmt::format("--kind bias: no measurement with several triggers at known distances ({} "
                    "others); record --triggers 4 makes them",
                    others));
  }
  Figure figure = begin_figure("Which trigger samples fall on", machines);
  figure.remark = "with 95% intervals; lines: what the delay from overflow to record gives";
  if (others > 0) {
    figure.remark +=
        fmt::format("; without {} of one trigger", analysis::counted(others, "measurement"));
  }
  figure.legend = {{LineStyle{Color::black, 1.5, kDashed}, "even share"}};
  for (const auto& [event, name] : events_in_blocks(machines, figure)) {
    figure.blocks.push_back({name, {shadow_panel(event->columns, figure.plot_width)}});
  }
  return figure;
}

}  // namespace skid::plots
