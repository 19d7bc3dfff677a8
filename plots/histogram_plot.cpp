#include "plots/histogram_plot.h"

#include "analysis/wording.h"
#include "plots/canvas.h"
#include "plots/figure_bins.h"
#include "plots/figure_file.h"
#include "plots/figure_layout.h"
#include "plots/gnuplot_session.h"
#include "plots/palette.h"
#include "src/output/grouping.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

using analysis::Measurement;
using gnuplotio::Gnuplot;
using output::Column;
using output::EventGroup;
using output::MachineGroup;

struct ClassStyle {
  const char* color;
  const char* name;
};
/// By BarClass.
constexpr std::array<ClassStyle, kBarClasses> kClassStyles{
    {{kOrange, "before the trigger"},
     {kGreen, "hit"},
     {kBlue, "skid"},
     {kVermillion, "censored (end of runway)"}}};

std::string machine_text(const MachineGroup& machine) {
  std::string text = output::cpu_name(machine.cpu);
  if (machine.cpu.hypervisor) text += ", under " + *machine.cpu.hypervisor;
  if (!machine.kernel.empty()) text += ", Linux " + machine.kernel;
  // The letters that the levels' labels carry.
  if (machine.sources.size() > 1) {
    for (const output::Source& source : machine.sources) {
      text += fmt::format("; {}: {}", source.letter, source.name);
    }
  }
  return text;
}

std::string period_text(const Measurement& m) {
  if (m.period.requested) return fmt::format(", period {}", *m.period.requested);
  if (m.period.effective && std::isfinite(*m.period.effective)) {
    return fmt::format(", period ~{:.0f}", *m.period.effective);
  }
  return {};
}

std::string caption(const Column& column, std::uint64_t beyond) {
  const Measurement& m = *column.measurement;
  std::string text = fmt::format("{}:  {}", column.label,
                                 analysis::counted(m.samples.read(), "sample") + period_text(m));
  if (m.hit_ratio.total > 0) text += ", hits " + analysis::percent(m.hit_ratio.value);
  if (beyond > 0) text += fmt::format(", {} beyond the axis", beyond);
  if (m.synthetic) text += ", synthetic";
  return text;
}

std::string x_label(const OffsetAxis& axis) {
  if (axis.width == 1) return "offset from trigger (instructions)";
  return fmt::format("offset from trigger (instructions), bins of {}", axis.width);
}

/// Frame, axes and their labels of one panel; `last` is the one that shows the shared x axis.
void begin_panel(Canvas& canvas, const Area& area, const OffsetAxis& axis, std::uint64_t highest,
                 bool last) {
  Gnuplot& gnuplot = canvas.gnuplot();
  canvas.margins(area);
  const double span = static_cast<double>(axis.highest - axis.lowest + 1);
  const std::int64_t x_step = round_up_nicely(span * 60.0 / area.width);
  const double top = std::max(1.0, static_cast<double>(highest) * 1.08);
  const std::int64_t y_step = round_up_nicely(top * 36.0 / area.height);
  gnuplot << fmt::format("set xrange [{:.3f}:{:.3f}]\n",
                         static_cast<double>(axis.lowest) - 0.5 - 0.015 * span,
                         static_cast<double>(axis.highest) + 0.5 + 0.015 * span)
          << fmt::format("set yrange [0:{:.3f}]\nset xtics {} nomirror scale 0.5\n", top, x_step)
          << fmt::format("set ytics {} nomirror scale 0.5\n", y_step) << "set format x "
          << (last ? "'%.0f'" : "''") << "\nset format y '%.0f'\n"
          << "set xlabel " << gnuplot_string(last ? x_label(axis) : "") << '\n'
          << "set ylabel 'samples'\n"
          << "set arrow from 0, graph 0 to 0, graph 1 nohead back dt 3 lc rgb '" << kGrey << "'\n";
}

using Boxes = std::vector<std::tuple<double, double, double>>;  // centre, height, width

void draw_bars(Canvas& canvas, const Bars& bars, const OffsetAxis& axis) {
  Gnuplot& gnuplot = canvas.gnuplot();
  std::array<Boxes, kBarClasses> boxes;
  const auto width = static_cast<double>(axis.width);
  for (const Bar& bar : bars.bars) {
    boxes[static_cast<std::size_t>(bar.bar_class)].emplace_back(
        static_cast<double>(bar.lo) + width / 2 - 0.5, static_cast<double>(bar.bottom + bar.count),
        width);
  }
  // Each box reaches down to 0, so the highest class of a bin has to be drawn first.
  std::string plots;
  for (std::size_t i = kBarClasses; i-- > 0;) {
    if (boxes[i].empty()) continue;
    plots += fmt::format("{} '-' using 1:2:3 with boxes lc rgb '{}' notitle",
                         plots.empty() ? "plot" : ",", kClassStyles[i].color);
  }
  if (plots.empty()) {
    gnuplot << "unset arrow\nunset ytics\nset label 'no located samples' at graph 0.5, graph 0.5 "
               "center tc rgb '"
            << kGrey << "' front\nplot -1 notitle\n";
    return;
  }
  gnuplot << plots << '\n';
  for (std::size_t i = kBarClasses; i-- > 0;) {
    if (!boxes[i].empty()) gnuplot.send1d(boxes[i]);
  }
}

void draw_stack(Canvas& canvas, const Layout& layout, const Block& block, Area area) {
  const std::vector<Column>& columns = block.event->columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Bars bars = bars_of(*columns[i].measurement, block.axis);
    canvas.text(area.left, area.top + kCaption / 2, caption(columns[i], bars.beyond),
                area.width + kRight, 9, kBlack);
    area.top += kCaption;
    area.height = layout.plot_height;
    begin_panel(canvas, area, block.axis, bars.highest, i + 1 == columns.size());
    draw_bars(canvas, bars, block.axis);
    canvas.forget_texts();
    area.top += layout.plot_height + kPanelGap;
  }
}

struct LineStyle {
  const char* color;
  double width;
};

/// Lower levels get wider lines, so that a higher one on top leaves them to be seen.
LineStyle line_style_of(int level) {
  switch (level) {
    case 0:
      return {kBlack, 7.0};
    case 1:
      return {kOrange, 5.0};
    case 2:
      return {kSkyBlue, 3.0};
    case 3:
      return {kVermillion, 1.2};
    default:
      return {kGrey, 1.2};
  }
}

using Outline = std::vector<std::tuple<double, double>>;

Outline outline_of(const Bars& bars, const OffsetAxis& axis) {
  std::map<std::int64_t, std::uint64_t> heights;
  for (const Bar& bar : bars.bars) heights[bar.lo] = bar.bottom + bar.count;
  Outline outline;
  for (std::int64_t lo = axis.lowest; lo <= axis.highest; lo += axis.width) {
    const auto found = heights.find(lo);
    const double height = found == heights.end() ? 0.0 : static_cast<double>(found->second);
    outline.emplace_back(static_cast<double>(lo) - 0.5, height);
    outline.emplace_back(static_cast<double>(lo + axis.width) - 0.5, height);
  }
  return outline;
}

void draw_overlay(Canvas& canvas, const Layout& layout, const Block& block, Area area) {
  const std::vector<Column>& columns = block.event->columns;
  std::vector<Outline> outlines;
  std::string plots;
  std::uint64_t highest = 0;
  for (const Column& column : columns) {
    const Bars bars = bars_of(*column.measurement, block.axis);
    highest = std::max(highest, bars.highest);
    outlines.push_back(outline_of(bars, block.axis));
    const LineStyle style = line_style_of(column.level);
    plots += fmt::format("{} '-' using 1:2 with lines lw {} lc rgb '{}' notitle",
                         plots.empty() ? "plot" : ",", style.width, style.color);
    constexpr int kSample = 18;
    canvas.rectangle({area.left, area.top + kCaption / 2 - 3, kSample, 6}, style.color);
    canvas.text(area.left + kSample + 6, area.top + kCaption / 2, caption(column, bars.beyond),
                area.width - kSample, 9, kBlack);
    area.top += kCaption;
  }
  area.height = layout.plot_height;
  begin_panel(canvas, area, block.axis, highest, true);
  canvas.gnuplot() << plots << '\n';
  for (const Outline& outline : outlines) canvas.gnuplot().send1d(outline);
  canvas.forget_texts();
}

/// The figure's title and, for bars, what their colours mean.
void draw_head(Canvas& canvas, const Layout& layout, const std::vector<Block>& blocks,
               Arrangement arrangement) {
  bool synthetic = false;
  std::set<BarClass> present;
  for (const Block& block : blocks) {
    for (const Column& column : block.event->columns) {
      synthetic |= column.measurement->synthetic;
      for (const Bar& bar : bars_of(*column.measurement, block.axis).bars) {
        present.insert(bar.bar_class);
      }
    }
  }
  const int room = layout.width - kLeft - kRight;
  std::string title = "Where samples land";
  if (synthetic) title += " (SYNTHETIC)";
  canvas.text(kLeft, 16, title, room, 13, kBlack);
  if (layout.one_machine)
    canvas.text(kLeft, 36, machine_text(*blocks.front().machine), room, 9, kGrey);
  if (arrangement == Arrangement::panels) {
    int x = kLeft;
    for (const BarClass bar_class : present) {
      const ClassStyle& style = kClassStyles[static_cast<std::size_t>(bar_class)];
      const std::string_view name = style.name;
      canvas.rectangle({x, 48, 12, 10}, style.color);
      canvas.text(x + 18, 53, name, room, 9, kBlack);
      x += 18 + static_cast<int>(text_width(name.size(), 9)) + 16;
    }
  }
  // Labels and objects appear with the next plot: an empty one over the whole figure.
  canvas.margins({0, 0, layout.width, layout.height});
  canvas.gnuplot() << "unset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n"
                      "plot -1 notitle\n";
  canvas.forget_texts();
  canvas.gnuplot() << "set border 3 lc rgb '" << kGrey << "'\nset tics textcolor rgb '" << kBlack
                   << "'\n";
}

void draw_figure(Gnuplot& gnuplot, const Layout& layout, const std::vector<Block>& blocks,
                 Arrangement arrangement) {
  Canvas canvas(gnuplot, layout.width, layout.height);
  gnuplot << "set style fill solid 1.0 noborder\nset tics out font ',8'\n"
             "set xlabel font ',9' offset 0,0.3\nset ylabel font ',9' offset 0.5,0\n"
             "unset key\nset multiplot\n";
  draw_head(canvas, layout, blocks, arrangement);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    const int index = static_cast<int>(i);
    Area area{index % layout.columns * layout.block_width() + kLeft,
              kTop + index / layout.columns * layout.block_height(), layout.plot_width, 0};
    canvas.text(area.left, area.top + 12, block.event->event, area.width, 12, kBlack);
    if (!layout.one_machine) {
      canvas.text(area.left, area.top + kBlockTop + 6, machine_text(*block.machine),
                  area.width + kRight, 8, kGrey);
    }
    area.top += layout.block_top;
    if (arrangement == Arrangement::panels) {
      draw_stack(canvas, layout, block, area);
    } else {
      draw_overlay(canvas, layout, block, area);
    }
  }
  gnuplot << "unset multiplot\n";
}

}  // namespace

void plot_histograms(const std::vector<Measurement>& measurements, const PlotOptions& options) {
  check_plot_file(options.file);
  if (measurements.empty()) {
    throw Error(fmt::format("{}: no measurements to draw", options.file.string()));
  }
  const std::vector<MachineGroup> machines = output::group(measurements);
  std::vector<Block> blocks;
  for (const MachineGroup& machine : machines) {
    for (const EventGroup& event : machine.events) blocks.push_back({&machine, &event, {}});
  }
  const Layout layout = lay_out(blocks, machines.size() == 1, options.arrangement);
  constexpr int kPixelsPerBin = 6;
  for (Block& block : blocks) {
    block.axis = choose_axis(block.event->columns, layout.plot_width / kPixelsPerBin);
  }
  const std::string figure =
      draw(terminal_for(options.file, layout.width, layout.height),
           [&](Gnuplot& gnuplot) { draw_figure(gnuplot, layout, blocks, options.arrangement); });
  write_file_atomically(options.file, figure);
}

}  // namespace skid::plots
