#include "plots/heatmap_plot.h"

#include "analysis/wording.h"
#include "plots/figure_rows.h"
#include "plots/figure_text.h"
#include "plots/offset_panel.h"
#include "plots/palette.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

using analysis::Measurement;

constexpr int kPixelsPerBin = 3;

/// The share of its width by which a bin reaches below the next one.
constexpr double kOverlap = 0.15;

/// Shares below are drawn like this one.
constexpr double kLeastShare = 1e-4;

OffsetAxis axis_of(const EventRows& event) {
  std::vector<output::Column> columns;
  columns.reserve(event.rows.size());
  for (const Row& row : event.rows) columns.push_back(row.column);
  return choose_axis(columns, kRowPlotWidth / kPixelsPerBin);
}

/// The power of ten at or below all shares.
double least_share(const std::vector<EventRows>& events) {
  double least = 0.1;
  for (const EventRows& event : events) {
    const OffsetAxis axis = axis_of(event);
    for (const Row& row : event.rows) {
      for (const HeatBin& bin : heat_of(*row.column.measurement, axis)) {
        least = std::min(least, bin.share);
      }
    }
  }
  return std::max(kLeastShare, std::pow(10.0, std::floor(std::log10(least) + 1e-9)));
}

/// Cividis (J. R. Nuñez et al., PLOS ONE 13, 2018) from its light end on: equal steps of
/// lightness, told apart with any colour vision and in grey. Paper stays for bins without a sample.
constexpr const char* kPalette =
    "set palette defined (0 '#fee838', 1 '#e1cc55', 2 '#c3b369', 3 '#a59c74', 4 '#8a8678', "
    "5 '#707173', 6 '#575d6d', 7 '#3b496c', 8 '#123570', 9 '#00224e')\n";

/// The colour box lies in the head and comes with the first panel.
void set_color_scale(Canvas& canvas, double least, const Area& head) {
  canvas.gnuplot() << kPalette
                   << fmt::format("set logscale cb\nset cbrange [{:.6f}:100]\n", least * 100)
                   << "set format cb '%g%%'\nset cbtics 10 font ',8' scale 0.5\n";
  canvas.color_box({head.left, head.top + 2, head.width / 2, 10});
  canvas.text(head.left + head.width / 2 + 24, head.top + 7,
              "share of the row's located samples; white: none", head.width / 2 + 250, 9, kBlack);
}

void draw_cells(Canvas& canvas, const EventRows& event, const RowFigure::Panel& panel) {
  using Box = std::tuple<double, double, double, double, double, double, double>;
  gnuplotio::Gnuplot& gnuplot = canvas.gnuplot();
  const OffsetAxis axis = axis_of(event);
  begin_offset_panel(canvas, panel.area, axis, panel.labelled);
  std::vector<Box> boxes;
  for (std::size_t i = 0; i < event.rows.size(); ++i) {
    const auto top = static_cast<double>(i);
    const auto heat = heat_of(*event.rows[i].column.measurement, axis);
    for (std::size_t j = 0; j < heat.size(); ++j) {
      const HeatBin& bin = heat[j];
      const double left = static_cast<double>(bin.lo) - 0.5;
      double right = left + static_cast<double>(axis.width);
      // Below the next one, or paper shines through where two edges share a pixel.
      const bool has_neighbour = j + 1 < heat.size() && heat[j + 1].lo == bin.lo + axis.width;
      if (has_neighbour) right += kOverlap * static_cast<double>(axis.width);
      boxes.emplace_back((left + right) / 2, top + 0.5, left, right, top + 0.08, top + 0.92,
                         100 * std::max(bin.share, kLeastShare));
    }
    if (heat.empty()) {
      const int row_height = panel.area.height / static_cast<int>(event.rows.size());
      canvas.text(panel.area.left + panel.area.width / 2 - 60,
                  panel.area.top + static_cast<int>(i) * row_height + row_height / 2,
                  "no located samples", 200, 8, kGrey);
    }
  }
  gnuplot << "plot -1 notitle"
          << ", '-' using 1:2:3:4:5:6:7 with boxxyerror lc palette fs solid 1.0 noborder notitle\n";
  // One outside, so that there is always something.
  const auto outside = static_cast<double>(axis.lowest - 1000 * axis.width);
  boxes.emplace_back(outside, -1, outside - 1, outside, -2, -1, 1);
  gnuplot.send1d(boxes);
  gnuplot << "unset colorbox\n";
}

std::string row_text(const Row& row, std::uint64_t beyond) {
  const Measurement& m = *row.column.measurement;
  std::string text = samples_text(m);
  if (m.hit_ratio.total > 0) text += ", hits " + analysis::percent(m.hit_ratio.value);
  if (beyond > 0) text += fmt::format(", {} beyond", beyond);
  if (m.synthetic) text += ", synthetic";
  return text;
}

}  // namespace

std::vector<HeatBin> heat_of(const Measurement& measurement, const OffsetAxis& axis) {
  const Bars bars = bars_of(measurement, axis);
  std::uint64_t all = bars.beyond;
  for (const Bar& bar : bars.bars) all += bar.count;
  std::vector<HeatBin> heat;
  for (const Bar& bar : bars.bars) {
    if (heat.empty() || heat.back().lo != bar.lo) heat.push_back({bar.lo, 0});
    heat.back().share += static_cast<double>(bar.count) / static_cast<double>(all);
  }
  return heat;
}

Drawing draw_heatmap(const std::vector<output::MachineGroup>& machines) {
  const std::vector<EventRows> events = rows_by_event(machines);
  const double least = least_share(events);
  RowFigure figure;
  figure.title = title_of("Where samples land", machines);
  figure.note = "each row: an event at a level; the scale of shares is logarithmic";
  figure.head_room = 34;
  std::map<const Measurement*, std::uint64_t> beyond;
  for (const EventRows& event : events) {
    const OffsetAxis axis = axis_of(event);
    for (const Row& row : event.rows) {
      beyond[row.column.measurement] = bars_of(*row.column.measurement, axis).beyond;
    }
  }
  figure.text = [&beyond](const Row& row) { return row_text(row, beyond[row.column.measurement]); };
  figure.draw = [least](Canvas& canvas, const EventRows& event, const RowFigure::Panel& panel) {
    if (panel.number == 0) set_color_scale(canvas, least, panel.head);
    draw_cells(canvas, event, panel);
  };
  return draw_rows(machines, figure);
}

}  // namespace skid::plots
