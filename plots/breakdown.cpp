#include "plots/kinds.h"
#include "plots/rows.h"

#include <array>
#include <map>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::SampleClass;

/// Of classes whose colours are alike in grey each has its own pattern, by SampleClass; 0: solid.
constexpr std::array<int, analysis::kSampleClasses> kPatterns{0, 4, 0, 2, 1, 7, 6, 0, 5, 0};

std::string fill_of(SampleClass sample_class) {
  const auto i = static_cast<std::size_t>(sample_class);
  const std::string color = fmt::format("lc rgb class[{}]", i + 1);
  return kPatterns[i] == 0 ? color : fmt::format("{} fs pattern {} border", color, kPatterns[i]);
}

/// Adds the bar of a row: its classes from left to right, by share of the samples read.
void add_bar(const analysis::Breakdown& breakdown, double middle,
             std::map<SampleClass, Rows>& bars) {
  const auto read = static_cast<double>(breakdown.read());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
    const auto sample_class = static_cast<SampleClass>(i);
    const std::uint64_t count = breakdown[sample_class];
    if (count == 0) continue;
    bars[sample_class].push_back({100 * static_cast<double>(sum) / read,
                                  100 * static_cast<double>(sum + count) / read, middle - 0.36,
                                  middle + 0.36});
    sum += count;
  }
}

}  // namespace

Figure breakdown_figure(const Machines& machines, const FigureOptions& options) {
  RowPlot plot(begin_figure("Where samples fall, by class", machines, options, 900));
  std::map<SampleClass, Rows> bars;
  for (const EventRows& event : rows_by_event(machines)) {
    plot.begin_event(event.event);
    for (const Row& row : event.rows) {
      const analysis::Measurement& m = *row.measurement;
      std::string text = samples_text({&m});
      text += output::origin_word(output::origin_of(m));
      add_bar(m.samples, plot.add(row.name, text), bars);
    }
  }
  for (auto& [sample_class, rows] : bars) {
    plot.panel.series.push_back(
        {"using 1:3:1:2:3:4 with boxxyerror " + fill_of(sample_class), std::move(rows)});
    plot.figure.keys.push_back(
        {"with boxes " + fill_of(sample_class), std::string(analysis::words_for(sample_class))});
  }
  return plot.finish(0, 100, "share of the samples read");
}

}  // namespace skid::plots
