#include "plots/kinds.h"

#include <map>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::SampleClass;

constexpr int kBreakdownRowHeight = 20;

/// Adds the bar of a row: its classes from left to right, by share of the samples read.
void add_bar(const Row& row, double top, std::map<SampleClass, Boxes>& boxes) {
  const analysis::Breakdown& breakdown = row.measurement->samples;
  const auto read = static_cast<double>(breakdown.read());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
    const auto sample_class = static_cast<SampleClass>(i);
    const std::uint64_t count = breakdown[sample_class];
    if (count == 0) continue;
    boxes[sample_class].boxes.push_back(
        {100 * static_cast<double>(sum) / read,
         100 * static_cast<double>(sum + count) / read,
         top + 0.88,
         top + 0.12,
         {fmt::format("{}, {}", row.label, analysis::words_for(sample_class)),
          count_and_share(count, breakdown.read(), "those read")}});
    sum += count;
  }
}

}  // namespace

Figure breakdown_figure(const Machines& machines) {
  Figure figure = begin_figure("Where samples fall, by class", machines);
  figure.remark = "each bar: all samples read of an event at a level";
  const std::vector<EventRows> events = rows_by_event(machines);
  std::map<SampleClass, Fill> present;
  for (const EventRows& event : events) {
    const bool last = &event == &events.back();
    Panel panel = row_panel(static_cast<double>(event.rows.size()), kBreakdownRowHeight);
    panel.x = {
        .low = 0,
        .high = 100,
        .tics = tics(0, 100, 20, [last](double at) { return last ? fmt::format("{}%", at) : ""; }),
        .label = last ? "share of the samples read" : "",
        .grid = true};
    std::map<SampleClass, Boxes> boxes;
    for (const Row& row : event.rows) {
      const auto top = static_cast<double>(panel.rows.size());
      add_bar(row, top, boxes);
      panel.rows.push_back({top + 0.5, row.label,
                            samples_text(*row.measurement)
                                .append(output::origin_word(output::origin_of(*row.measurement)))});
    }
    for (auto& [sample_class, of_class] : boxes) {
      of_class.fill = present[sample_class] = fill_of(sample_class);
      panel.boxes.push_back(std::move(of_class));
    }
    figure.blocks.push_back({event.event, {std::move(panel)}});
  }
  for (const auto& [sample_class, fill] : present) {
    figure.legend.push_back({fill, std::string(analysis::words_for(sample_class))});
  }
  return figure;
}

}  // namespace skid::plots
