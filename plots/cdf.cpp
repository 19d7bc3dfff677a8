#include "plots/kinds.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::Bin;
using analysis::HistogramSlice;
using analysis::Measurement;
using analysis::SampleClass;
using output::Column;

struct Step {
  std::int64_t offset = 0;  ///< instructions
  double percent = 0;       ///< of the located samples, at most at `offset`
};

/// Ascending, a step for each bin, at its last offset: what is known of wider bins. Hits have their
/// own step at 0. Samples below the histogram count as before it; those above it are in no step, so
/// that the last one may be below 100. Empty without a located sample.
std::vector<Step> steps_of(const Measurement& measurement) {
  const HistogramSlice& histogram = measurement.histogram;
  std::uint64_t all = histogram.underflow + histogram.overflow;
  for (const Bin& bin : histogram.bins) all += bin.count;
  std::vector<Step> steps;
  std::uint64_t sum = 0;
  const auto add = [&](std::int64_t offset, std::uint64_t count) {
    if (count == 0) return;
    sum += count;
    steps.push_back({offset, 100 * static_cast<double>(sum) / static_cast<double>(all)});
  };
  add(measurement.lowest_offset, histogram.underflow);
  for (const Bin& bin : histogram.bins) {
    std::uint64_t rest = bin.count;
    if (bin.lo == 0) {
      const std::uint64_t hits = std::min(rest, measurement.samples[SampleClass::hit]);
      add(0, hits);
      rest -= hits;
    }
    add(bin.hi - 1, rest);
  }
  return steps;
}

/// Steps on `axis`, no more than a screen can show; each is the sum up to itself.
std::vector<Step> thinned(const std::vector<Step>& steps, const OffsetAxis& axis) {
  constexpr std::int64_t kMostSteps = 20'000;
  const std::int64_t apart = (axis.highest - axis.lowest) / kMostSteps;
  std::vector<Step> kept;
  const Step* left_out = nullptr;
  for (const Step& step : steps) {
    if (step.offset < axis.lowest || step.offset > axis.highest) continue;
    const bool keep = kept.empty() || step.offset - kept.back().offset >= apart;
    if (keep) kept.push_back(step);
    left_out = keep ? nullptr : &step;
  }
  if (left_out != nullptr) kept.push_back(*left_out);
  return kept;
}

/// The line of a measurement, and its part from the censored offset on, where it is known only that
/// a sample is no nearer.
struct Lines {
  std::vector<std::pair<double, double>> known, censored;
};

Lines lines_of(const Measurement& m, const OffsetAxis& axis) {
  Lines lines;
  const std::vector<Step> steps = steps_of(m);
  if (steps.empty()) return lines;
  auto* line = &lines.known;
  double height = 0;
  for (const Step& step : steps) {
    if (step.offset < axis.lowest) height = step.percent;
  }
  line->emplace_back(static_cast<double>(axis.lowest) - 0.5, height);
  const std::int64_t censored_from =
      m.censored_from.value_or(std::numeric_limits<std::int64_t>::max());
  for (const Step& step : thinned(steps, axis)) {
    if (step.offset >= censored_from && line == &lines.known) {
      line->emplace_back(static_cast<double>(censored_from), height);
      line = &lines.censored;
      line->emplace_back(static_cast<double>(censored_from), height);
    }
    const auto x = static_cast<double>(step.offset);
    if (line->back().first < x) line->emplace_back(x, height);
    height = step.percent;
    line->emplace_back(x, height);
  }
  line->emplace_back(static_cast<double>(axis.highest) + 0.5, height);
  return lines;
}

/// The dashes of the n-th of several lines of a level, in pixels; the first is solid.
const std::vector<double>& dashes_of(int n) {
  static const std::array<std::vector<double>, 5> kDashes{
      {{}, {12, 4}, {4, 4}, {16, 4, 4, 4}, {24, 6}}};
  return kDashes[static_cast<std::size_t>(n) % kDashes.size()];
}

/// Short, because several are beside each other: hits are the step at 0.
std::string caption_of(const Column& column, std::uint64_t beyond) {
  const Measurement& m = *column.measurement;
  std::string text = fmt::format("{}:  {}", column.label, samples_text(m));
  const std::uint64_t censored = m.samples[SampleClass::censored];
  if (m.samples.located() == 0) text += ", none located";
  if (censored > 0) text += fmt::format(", {} censored", censored);
  if (beyond > 0) text += fmt::format(", {} beyond", beyond);
  if (m.synthetic) text += ", synthetic";
  return text;
}

Panel panel_of(const std::vector<Column>& columns, int plot_width) {
  OffsetAxis axis = choose_axis(columns, plot_width);
  axis.width = 1;  // lines have no bins
  Panel panel{.height = panel_height(1), .x = offset_axis(axis, plot_width, true)};
  panel.y = {.low = -2,
             .high = 102,
             .tics = tics(0, 100, 20, [](double at) { return fmt::format("{:.0f}%", at); }),
             .label = "located samples up to here"};
  panel.rules = {trigger_rule(panel.y)};
  std::map<int, int> lines_of_level;
  std::map<std::int64_t, bool> ends;  // censored offsets, and whether of several triggers
  for (const Column& column : columns) {
    const Measurement& m = *column.measurement;
    Lines lines = lines_of(m, axis);
    LineStyle style = line_style_of(column.level);
    style.width = std::max(1.2, 0.85 * style.width);
    style.dashes = dashes_of(lines_of_level[column.level]++);
    panel.captions.push_back({caption_of(column, bars_of(m, axis).beyond), style});
    if (!lines.known.empty()) panel.curves.push_back({style, std::move(lines.known)});
    if (lines.censored.empty()) continue;
    panel.curves.push_back({{style.color, style.width / 2, kDotted}, std::move(lines.censored)});
    ends[*m.censored_from] |= !m.triggers.empty();
  }
  for (const auto& [end, partly] : ends) {
    const auto x = static_cast<double>(end);
    panel.rules.push_back({x, panel.y.low, x, panel.y.high, {Color::vermillion, 1, {10, 3, 2, 3}}});
    // Of several triggers it is the end of the shortest runway.
    panel.notes.push_back({x, 4, partly ? " partly censored " : " censored ", Color::vermillion,
                           2 * end > axis.lowest + axis.highest ? Align::right : Align::left});
  }
  if (panel.curves.empty()) {
    panel.rules.clear();
    show_nothing_located(panel);
  }
  return panel;
}

}  // namespace

Figure cdf_figure(const Machines& machines) {
  Figure figure = begin_figure("How far samples land", machines);
  for (const auto& [event, name] : events_in_blocks(machines, figure)) {
    figure.blocks.push_back({name, {panel_of(event->columns, figure.plot_width)}});
  }
  return figure;
}

}  // namespace skid::plots
