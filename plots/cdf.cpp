#include "plots/kinds.h"
#include "plots/offset_bins.h"

#include <algorithm>
#include <map>

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
  Rows known, censored;
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
  line->push_back({static_cast<double>(axis.lowest) - 0.5, height()});
  const auto rise = [&](std::int64_t offset, std::uint64_t count) {
    if (count == 0) return;
    if (m.censored_from && offset >= *m.censored_from && line == &lines.known) {
      const auto end = static_cast<double>(*m.censored_from);
      line->push_back({end, height()});
      line = &lines.censored;
      line->push_back({end, height()});
    }
    const auto x = static_cast<double>(offset);
    if (line->back()[0] < x) line->push_back({x, height()});
    sum += count;
    line->push_back({x, height()});
  };
  for (const Bin& bin : histogram.bins) {
    rise(0, bin[SampleClass::hit]);
    rise(std::min(bin.hi - 1, axis.highest), bin.count - bin[SampleClass::hit]);
  }
  line->push_back({static_cast<double>(axis.highest) + 0.5, height()});
  return lines;
}

Panel cdf_panel(const std::vector<Column>& columns, const OffsetAxis& axis,
                const OffsetScale& scale, const Paper& paper) {
  Panel panel{.marks = {kTriggerLine}};
  std::map<int, std::size_t> of_level;
  std::map<std::int64_t, bool> ends;  // censored offsets, and whether of several triggers
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Measurement& m = *columns[i].measurement;
    Lines lines = lines_of(m, axis);
    const std::string line = line_of(columns[i].level, of_level[columns[i].level]++);
    if (paper.caption || columns.size() == 1) {
      if (i > 0) panel.title += '\n';
      panel.title += caption_of(columns[i], paper, lines.beyond);
      const std::uint64_t censored = m.samples[SampleClass::censored];
      if (censored > 0 && !paper.is_narrow()) panel.title += fmt::format(", {} censored", censored);
    }
    if (lines.known.empty()) continue;
    Rows whole = lines.known;
    whole.insert(whole.end(), lines.censored.begin(), lines.censored.end());
    const double height =
        100 * static_cast<double>(i + 1) / static_cast<double>(columns.size() + 1);
    panel.marks.push_back(
        name_at_height(height, whole, scale, paper.quoted(columns[i].label), line));
    panel.series.push_back({"using 1:2 with lines " + line, std::move(lines.known)});
    if (lines.censored.empty()) continue;
    panel.series.push_back(
        {fmt::format("using 1:2 with lines {} lw 0.7", line), std::move(lines.censored)});
    ends[*m.censored_from] |= !m.triggers.empty();
  }
  for (const auto& [end, partly] : ends) {
    panel.marks.push_back(
        fmt::format("set arrow from {0},graph 0 to {0},graph 1 nohead ls 4 lw 0.7 back", end));
    // With several triggers it is the end of the shortest runway.
    panel.marks.push_back(label_at(static_cast<double>(end), 4,
                                   partly ? "'partly censored'" : "'censored'", "ls 4",
                                   scale.place_of(static_cast<double>(end)) > 0.5));
  }
  if (panel.series.empty()) show_nothing_located(panel);
  return panel;
}

}  // namespace

Figure cdf_figure(const Machines& machines, const FigureOptions& options) {
  EventGrid grid("How far samples land", machines, options);
  Figure& figure = grid.figure;
  const double width = grid.plot_width();
  grid.fill([&](const EventOnMachines& event, const output::EventGroup& group) {
    OffsetAxis axis = choose_axis(event.columns(), static_cast<std::int64_t>(width));
    axis.width = 1;  // lines have no bins
    const OffsetScale scale = scale_of_lines(axis);
    Panel panel = cdf_panel(group.columns, axis, scale, figure.paper);
    panel.commands = scale.settings(width, figure.paper);
    return std::vector<std::optional<Panel>>{std::move(panel)};
  });
  figure.x_label = offset_label(figure.paper);
  figure.y_label = "located samples up to here";
  figure.commands = kShareAxis;
  return figure;
}

}  // namespace skid::plots
