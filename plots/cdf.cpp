#include "analysis/basis.h"
#include "analysis/histogram.h"
#include "analysis/measurement.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "plots/axes.h"
#include "plots/drawing.h"
#include "plots/event_grid.h"
#include "plots/kinds.h"
#include "plots/labels.h"
#include "plots/machines.h"
#include "plots/marks.h"
#include "plots/offset_axis.h"
#include "src/output/report/grouping.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::plots {

struct FigureOptions;

namespace {

using analysis::Measurement;
using analysis::SampleClass;

/// Returns where a line steps up, and the share of the located samples up to there, in per cent. A
/// step is at the last offset of a bin, because where samples are within a bin is not known. Hits
/// have their own step at 0. Samples below the axis are in the first step, those above it in none.
Rows steps_of(const Measurement& m, const analysis::Histogram& histogram, const OffsetAxis& axis) {
  std::uint64_t sum = histogram.underflow;
  const auto step = [&](double offset) -> std::vector<double> {
    return {offset, 100 * static_cast<double>(sum) / static_cast<double>(m.samples.located())};
  };
  Rows steps{step(static_cast<double>(axis.lowest) - 0.5)};
  for (const analysis::Bin& bin : histogram.bins) {
    const std::uint64_t hits = bin[SampleClass::hit];
    sum += hits;
    if (hits > 0) steps.push_back(step(0));
    sum += bin.count - hits;
    if (bin.count > hits) {
      steps.push_back(step(static_cast<double>(std::min(bin.hi - 1, axis.highest))));
    }
  }
  steps.push_back(step(static_cast<double>(axis.highest) + 0.5));
  return steps;
}

Panel cdf_panel(const std::vector<Column>& columns, const OffsetAxis& axis, const EventGrid& grid) {
  constexpr std::size_t kMostSteps = 20'000;  // more than a screen can show
  const Axis across = drawn(axis, true);
  Panel panel{.commands = settings_of(across, grid), .marks = {kTriggerLine}};
  std::vector<Column> lines;
  // Names of the first censored offsets; with several triggers, that of the nearest one.
  std::map<double, const char*> ends;
  for (const Column& column : columns) {
    const Measurement& m = *column.measurement;
    OffsetAxis steps{axis.lowest, axis.highest, m.bin_width};
    auto histogram = histogram_of(m.basis.tally, steps);
    if (histogram.bins.size() > kMostSteps) {
      steps.width *= (steps.highest - steps.lowest) / steps.width / std::int64_t{kMostSteps} + 1;
      histogram = histogram_of(m.basis.tally, steps);
    }
    const std::uint64_t censored = m.samples[SampleClass::censored];
    std::string text = hits_text(m, histogram.underflow + histogram.overflow);
    if (censored > 0) text += fmt::format(", {} censored", censored);
    if (grid.figure.paper.caption || columns.size() == 1) grid.add_caption(panel, column, text);
    if (m.samples.located() == 0) continue;
    lines.push_back(column);
    panel.series.push_back(
        {"$d using 1:2 with steps " +
             grid.line_of(column,
                          columns.size() - static_cast<std::size_t>(&column - columns.data())),
         steps_of(m, histogram, axis)});
    if (censored == 0 || !m.censored_from) continue;
    ends[static_cast<double>(*m.censored_from)] =
        m.triggers.empty() ? "censored" : "partly censored";
  }
  for (const auto& [end, name] : ends) {
    panel.marks.push_back(fmt::format(
        "set arrow from {0},graph 0 to {0},graph 1 nohead ls 4 lw 0.7 back\n"
        "set label '{1}' at {0},graph 0.02 left rotate offset 0.8,0 tc rgb ink[4] front",
        end, name));
  }
  if (columns.size() > 1) grid.add_names(panel, lines, share_height, across);
  if (panel.series.empty()) panel.marks = {kNothingLocated};
  return panel;
}

}  // namespace

Figure cdf_figure(const Machines& machines, const FigureOptions& options) {
  EventGrid grid("Samples up to each offset", machines, options);
  grid.fill([&](const EventOnMachines& event, const std::vector<Column>& shown) {
    const auto most = static_cast<std::int64_t>(grid.plot_width());
    return cdf_panel(shown, choose_axis(event.all, most), grid);
  });
  grid.figure.x_label = "offset from trigger (instructions)";
  grid.figure.y_label = "located samples up to here";
  grid.figure.commands = kShareAxis;
  grid.figure.least_lines = kLeastShareLines;
  return std::move(grid.figure);
}

}  // namespace skid::plots
