#include "plots/histogram_plot.h"

#include "plots/canvas.h"
#include "plots/class_fill.h"
#include "plots/figure_bins.h"
#include "plots/figure_blocks.h"
#include "plots/figure_text.h"
#include "plots/offset_panel.h"
#include "plots/palette.h"

#include <algorithm>
#include <array>
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

using gnuplotio::Gnuplot;
using output::Column;
using output::MachineGroup;

/// Classes are told apart by their place, too: plain colours do.
Fill fill_of_bars(BarClass bar_class) {
  return {fill_of(sample_class_of(bar_class)).color};
}

/// Where a logarithmic axis begins: below a single sample, whose bar is to be seen.
constexpr double kLowestLog = 0.5;

/// Frame, axes and their labels of one panel; `last` is the one that shows the shared x axis.
void begin_panel(Canvas& canvas, const Area& area, const OffsetAxis& axis, std::uint64_t highest,
                 bool last, bool logarithmic) {
  begin_offset_panel(canvas, area, axis, last);
  Gnuplot& gnuplot = canvas.gnuplot();
  gnuplot << "set ylabel 'samples'\nset format y '%.0f'\n";
  if (logarithmic) {
    // A decade at least, so that two numbers stand at the axis.
    const double top = std::max(10.0, static_cast<double>(highest)) * 1.5;
    const int decades = static_cast<int>(std::ceil(std::log10(top)));
    const int step = std::max(1, static_cast<int>(std::ceil(decades * 20.0 / area.height)));
    gnuplot << fmt::format(
        "set logscale y\nset yrange [{}:{:.3f}]\nset ytics {} nomirror scale 0.5\n", kLowestLog,
        top, static_cast<std::int64_t>(std::pow(10, step)));
    return;
  }
  const double top = std::max(1.0, static_cast<double>(highest) * 1.08);
  gnuplot << fmt::format("set yrange [0:{:.3f}]\nset ytics {} nomirror scale 0.5\n", top,
                         round_up_nicely(top * 36.0 / area.height));
}

using Boxes = std::vector<std::tuple<double, double, double>>;  // centre, height, width

void draw_bars(Canvas& canvas, const Bars& bars) {
  Gnuplot& gnuplot = canvas.gnuplot();
  std::array<Boxes, kBarClasses> boxes;
  for (const Bar& bar : bars.bars) {
    boxes[static_cast<std::size_t>(bar.bar_class)].emplace_back(
        (bar.left + bar.right) / 2, static_cast<double>(bar.bottom + bar.count),
        bar.right - bar.left);
  }
  // Each box reaches down to 0, so the highest class of a bin has to be drawn first.
  std::string plots;
  for (std::size_t i = kBarClasses; i-- > 0;) {
    if (boxes[i].empty()) continue;
    plots +=
        fmt::format("{} '-' using 1:2:3 with boxes lc rgb '{}' notitle",
                    plots.empty() ? "plot" : ",", fill_of_bars(static_cast<BarClass>(i)).color);
  }
  if (plots.empty()) {
    say_nothing_located(canvas);
    return;
  }
  gnuplot << plots << '\n';
  for (std::size_t i = kBarClasses; i-- > 0;) {
    if (!boxes[i].empty()) gnuplot.send1d(boxes[i]);
  }
}

void draw_stack(Canvas& canvas, const Layout& layout, const Block& block, Area area,
                bool logarithmic) {
  const std::vector<Column>& columns = block.event->columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Bars bars = bars_of(*columns[i].measurement, block.axis);
    canvas.text(area.left, area.top + kCaption / 2, caption(columns[i], bars.beyond),
                area.width + kRight, caption_points(area), kBlack);
    area.top += kCaption;
    area.height = layout.plot_height;
    begin_panel(canvas, area, block.axis, bars.highest, i + 1 == columns.size(), logarithmic);
    draw_bars(canvas, bars);
    canvas.forget_texts();
    area.top += layout.plot_height + kPanelGap;
  }
}

using Outline = std::vector<std::tuple<double, double>>;

/// `floor`: the height of bins without a sample.
Outline outline_of(const Bars& bars, const OffsetAxis& axis, double floor) {
  std::map<double, std::uint64_t> heights;  // by the left side
  for (const Bar& bar : bars.bars) heights[bar.left] = bar.bottom + bar.count;
  Outline outline;
  const auto add = [&](double left, double right) {
    const auto found = heights.find(left);
    const double height = found == heights.end() ? floor : static_cast<double>(found->second);
    outline.emplace_back(left, height);
    outline.emplace_back(right, height);
  };
  for (std::int64_t lo = axis.lowest; lo <= axis.highest; lo += axis.width) {
    const double left = static_cast<double>(lo) - 0.5;
    const double right = left + static_cast<double>(axis.width);
    const double middle = lo == 0 ? end_of_hits(axis) : right;
    add(left, middle);
    if (middle < right) add(middle, right);
  }
  return outline;
}

void draw_overlay(Canvas& canvas, const Layout& layout, const Block& block, Area area,
                  bool logarithmic) {
  const std::vector<Column>& columns = block.event->columns;
  std::vector<Outline> outlines;
  std::string plots;
  std::uint64_t highest = 0;
  for (const Column& column : columns) {
    const Bars bars = bars_of(*column.measurement, block.axis);
    highest = std::max(highest, bars.highest);
    outlines.push_back(outline_of(bars, block.axis, logarithmic ? kLowestLog : 0));
    const LineStyle style = line_style_of(column.level);
    plots += fmt::format("{} '-' using 1:2 with lines lw {} lc rgb '{}' notitle",
                         plots.empty() ? "plot" : ",", style.width, style.color);
    draw_line_caption(canvas, area, area.top + kCaption / 2, style, caption(column, bars.beyond));
    area.top += kCaption;
  }
  area.height = layout.plot_height;
  begin_panel(canvas, area, block.axis, highest, true, logarithmic);
  canvas.gnuplot() << plots << '\n';
  for (const Outline& outline : outlines) canvas.gnuplot().send1d(outline);
  canvas.forget_texts();
}

/// What the colours of bars mean.
std::vector<LegendEntry> legend_of(const std::vector<Block>& blocks) {
  std::set<BarClass> present;
  for (const Block& block : blocks) {
    for (const Column& column : block.event->columns) {
      for (const Bar& bar : bars_of(*column.measurement, block.axis).bars) {
        present.insert(bar.bar_class);
      }
    }
  }
  std::vector<LegendEntry> legend;
  for (const BarClass bar_class : present) {
    legend.push_back(
        {fill_of_bars(bar_class), std::string(analysis::words_for(sample_class_of(bar_class)))});
  }
  return legend;
}

}  // namespace

Drawing draw_histograms(const std::vector<MachineGroup>& machines, const HistogramStyle& style) {
  std::vector<Block> blocks = blocks_of(machines);
  const Layout layout = lay_out(blocks, style.arrangement);
  constexpr int kPixelsPerBin = 6;
  for (Block& block : blocks) {
    block.axis = choose_axis(block.event->columns, layout.plot_width / kPixelsPerBin);
  }
  const bool bars = style.arrangement == Arrangement::panels;
  const Head head{title_of("Where samples land", machines),
                  bars ? legend_of(blocks) : std::vector<LegendEntry>{}};
  return draw_blocks(machines, blocks, layout, head,
                     [&](Canvas& canvas, const Block& block, const Area& area) {
                       if (bars) {
                         draw_stack(canvas, layout, block, area, style.logarithmic);
                       } else {
                         draw_overlay(canvas, layout, block, area, style.logarithmic);
                       }
                     });
}

}  // namespace skid::plots
