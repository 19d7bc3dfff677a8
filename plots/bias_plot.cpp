#include "plots/bias_plot.h"

#include "analysis/wording.h"
#include "plots/class_fill.h"
#include "plots/figure_blocks.h"
#include "plots/figure_text.h"
#include "plots/offset_panel.h"
#include "plots/palette.h"
#include "src/support/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

using analysis::Measurement;
using analysis::TriggerCount;
using output::Column;
using output::EventGroup;
using output::MachineGroup;

/// Leaves the measurements with several triggers alone; returns how many others there were.
std::size_t leave_several_triggers(std::vector<MachineGroup>& machines) {
  std::size_t others = 0;
  for (MachineGroup& machine : machines) {
    for (EventGroup& event : machine.events) {
      others += std::erase_if(event.columns, [](const Column& column) {
        return column.measurement->triggers.size() < 2;
      });
    }
    std::erase_if(machine.events, [](const EventGroup& event) { return event.columns.empty(); });
  }
  std::erase_if(machines, [](const MachineGroup& machine) { return machine.events.empty(); });
  return others;
}

std::uint64_t samples_of(const Measurement& m) {
  std::uint64_t all = 0;
  for (const TriggerCount& trigger : m.triggers) all += trigger.samples;
  return all;
}

std::string bias_caption(const Column& column) {
  const Measurement& m = *column.measurement;
  std::string text = fmt::format("{}:  {}", column.label, samples_text(m));
  if (!m.basis.equal_triggers) {
    text += ", not equally often the cause";
  } else if (m.bias) {
    if (m.bias->largest_ratio) text += fmt::format(", max/min {:.3g}", *m.bias->largest_ratio);
    // Chi-square of many samples gives less than a double holds.
    text += m.bias->p > 0 ? fmt::format(", p {:.2g}", m.bias->p) : std::string(", p < 1e-300");
  }
  if (m.synthetic) text += ", synthetic";
  return text;
}

void draw_shares(Canvas& canvas, const Measurement& m, const Area& area, bool labelled) {
  gnuplotio::Gnuplot& gnuplot = canvas.gnuplot();
  canvas.margins(area);
  const auto count = static_cast<double>(m.triggers.size());
  gnuplot << fmt::format("set xrange [0.4:{:.1f}]\nset xtics 1,{} nomirror scale 0.5\n",
                         count + 0.6, round_up_nicely(count * 40.0 / area.width))
          << "set format x " << (labelled ? "'%.0f'" : "''") << "\nset xlabel '"
          << (labelled ? "trigger, in the order of addresses" : "") << "'\n"
          << "set ylabel 'share of samples' offset -0.8,0\n";
  const std::uint64_t all = samples_of(m);
  if (all == 0) {
    say_nothing_located(canvas);
    return;
  }
  const auto percent = [all](std::uint64_t samples) {
    return 100.0 * static_cast<double>(samples) / static_cast<double>(all);
  };
  using Boxes = std::vector<std::tuple<double, double, double>>;  // trigger, per cent, width
  Boxes sums, hits;
  double highest = m.basis.equal_triggers ? 100 / count : 0;
  for (std::size_t i = 0; i < m.triggers.size(); ++i) {
    const TriggerCount& trigger = m.triggers[i];
    const auto x = static_cast<double>(i + 1);
    highest = std::max(highest, percent(trigger.samples));
    if (trigger.samples > 0) sums.emplace_back(x, percent(trigger.samples), 0.8);
    if (trigger.hits > 0) hits.emplace_back(x, percent(trigger.hits), 0.8);
  }
  const double top = std::min(highest * 1.15, 105.0);
  const double step = std::max(top * 36.0 / area.height, 0.01);
  // Shares of many triggers lie below 1%.
  const double unit = step >= 1 ? 1.0 : 0.01;
  gnuplot << fmt::format("set yrange [0:{:.5f}]\nset ytics {:.2f} nomirror scale 0.5\n", top,
                         static_cast<double>(round_up_nicely(step / unit)) * unit)
          << "set format y '%g%%'\n";
  if (m.basis.equal_triggers) {
    gnuplot << fmt::format(
        "set arrow from graph 0, first {0:.5f} to graph 1, first {0:.5f} nohead front dt 2 lw 1.5 "
        "lc rgb '{1}'\n",
        100 / count, kBlack);
  }
  // Each box reaches down to 0, so what lies below is drawn after.
  gnuplot << "plot '-' using 1:2:3 with boxes " << style_of(fill_of(analysis::SampleClass::skid))
          << " notitle";
  if (!hits.empty()) {
    gnuplot << ", '-' using 1:2:3 with boxes " << style_of(fill_of(analysis::SampleClass::hit))
            << " notitle";
  }
  gnuplot << '\n';
  gnuplot.send1d(sums);
  if (!hits.empty()) gnuplot.send1d(hits);
}

}  // namespace

Drawing draw_bias(std::vector<MachineGroup> machines) {
  const std::size_t others = leave_several_triggers(machines);
  if (machines.empty()) {
    throw UsageError(
        fmt::format("--kind bias: found {} with one trigger or none, allowed are some with "
                    "several; record --triggers 4 makes them",
                    analysis::counted(others, "measurement")));
  }
  const std::vector<Block> blocks = blocks_of(machines);
  const Layout layout = lay_out(blocks, Arrangement::panels);
  std::string note;
  if (others > 0) {
    note = fmt::format("without {} of one trigger", analysis::counted(others, "measurement"));
  }
  const Head head{title_of("Which trigger samples fall on", machines),
                  {{fill_of(analysis::SampleClass::hit), "hit"},
                   {fill_of(analysis::SampleClass::skid), "on the runway behind it"},
                   {{kBlack, Fill::kDashes}, "even share"}},
                  note};
  return draw_blocks(
      machines, blocks, layout, head, [&layout](Canvas& canvas, const Block& block, Area area) {
        const std::vector<Column>& columns = block.event->columns;
        for (std::size_t i = 0; i < columns.size(); ++i) {
          canvas.text(area.left, area.top + kCaption / 2, bias_caption(columns[i]),
                      area.width + kRight, caption_points(area), kBlack);
          area.top += kCaption;
          area.height = layout.plot_height;
          draw_shares(canvas, *columns[i].measurement, area, i + 1 == columns.size());
          canvas.forget_texts();
          area.top += layout.plot_height + kPanelGap;
        }
      });
}

}  // namespace skid::plots
