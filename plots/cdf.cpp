#include "plots/kinds.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::Bin;
using analysis::Measurement;
using analysis::SampleClass;
using output::Column;

/// The line of a measurement, and its part from the censored offset on. There it is known only that
/// a sample is no nearer.
struct Lines {
  std::vector<std::pair<double, double>> known, censored;
  std::uint64_t beyond = 0;  ///< located samples outside the axis
};

/// A step for each bin, as wide as it is recorded, at its last offset: what is known of wider bins.
/// Hits have their own step at 0. Samples below the axis count as before it; those above it are in
/// no step. Empty without a located sample.
Lines lines_of(const Measurement& m, const OffsetAxis& axis) {
  constexpr std::int64_t kMostSteps = 20'000;  // more than a screen can show
  Lines lines;
  const std::uint64_t located = m.samples.located();
  if (located == 0) return lines;
  const std::int64_t recorded_bins = (axis.highest - axis.lowest) / m.bin_width;
  const auto histogram = histogram_of(
      m.basis.tally, {axis.lowest, axis.highest, m.bin_width * (recorded_bins / kMostSteps + 1)});
  lines.beyond = histogram.underflow + histogram.overflow;
  std::uint64_t sum = histogram.underflow;
  const auto height = [&] { return 100 * static_cast<double>(sum) / static_cast<double>(located); };
  auto* line = &lines.known;
  line->emplace_back(static_cast<double>(axis.lowest) - 0.5, height());
  const auto rise = [&](std::int64_t offset, std::uint64_t count) {
    if (count == 0) return;
    if (m.censored_from && offset >= *m.censored_from && line == &lines.known) {
      const auto end = static_cast<double>(*m.censored_from);
      line->emplace_back(end, height());
      line = &lines.censored;
      line->emplace_back(end, height());
    }
    const auto x = static_cast<double>(offset);
    if (line->back().first < x) line->emplace_back(x, height());
    sum += count;
    line->emplace_back(x, height());
  };
  for (const Bin& bin : histogram.bins) {
    rise(0, bin[SampleClass::hit]);
    rise(std::min(bin.hi - 1, axis.highest), bin.count - bin[SampleClass::hit]);
  }
  line->emplace_back(static_cast<double>(axis.highest) + 0.5, height());
  return lines;
}

/// Short, because several are beside each other: hits are the step at 0.
std::string caption_of(const Column& column, std::uint64_t beyond) {
  const Measurement& m = *column.measurement;
  std::string text = fmt::format("{}:  {}", column.label, samples_text(m));
  const std::uint64_t censored = m.samples[SampleClass::censored];
  if (m.samples.located() == 0) text += ", none located";
  if (censored > 0) text += fmt::format(", {} censored", censored);
  if (beyond > 0) text += fmt::format(", {} beyond", beyond);
  return text.append(output::origin_word(output::origin_of(m)));
}

Panel cdf_panel(const std::vector<Column>& columns, int plot_width) {
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
    panel.captions.push_back({caption_of(column, lines.beyond), style});
    if (!lines.known.empty()) panel.curves.push_back({style, std::move(lines.known)});
    if (lines.censored.empty()) continue;
    panel.curves.push_back({{style.color, style.width / 2, kDotted}, std::move(lines.censored)});
    ends[*m.censored_from] |= !m.triggers.empty();
  }
  for (const auto& [end, partly] : ends) {
    const auto x = static_cast<double>(end);
    panel.rules.push_back({x, panel.y.low, x, panel.y.high, {Color::vermillion, 1, {10, 3, 2, 3}}});
    // With several triggers it is the end of the shortest runway.
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
    figure.blocks.push_back({name, {cdf_panel(event->columns, figure.plot_width)}});
  }
  return figure;
}

}  // namespace skid::plots
