#include "plots/figure_rows.h"

#include "plots/figure_text.h"
#include "plots/palette.h"
#include "src/output/escape.h"
#include "src/support/error.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

using output::Column;
using output::EventGroup;
using output::MachineGroup;

// Pixels.
constexpr int kMargin = 16;
constexpr int kMachineTop = 58;
constexpr int kMachineLine = 15;
constexpr int kEventTop = 28;     // an event's name
constexpr int kEventBottom = 46;  // tics and label
constexpr int kEventGap = 10;     // without them
constexpr int kTextWidth = 380;   // behind a row
constexpr int kNarrowestLabels = 60;
constexpr int kWidestLabels = 180;

struct RowLayout {
  std::vector<std::string> machines;
  int left = 0;  ///< of the panels
  int head = 0;  ///< height down to the first panel
  int legend_top = 0;
  int width = 0, height = 0;
};

int bottom_of(const RowFigure& figure, bool last) {
  return last || !figure.one_axis ? kEventBottom : kEventGap;
}

RowLayout lay_out_rows(const std::vector<MachineGroup>& machines,
                       const std::vector<EventRows>& events, const RowFigure& figure) {
  std::size_t rows = 0, longest = 0;
  for (const EventRows& event : events) {
    rows += event.rows.size();
    for (const Row& row : event.rows) {
      longest = std::max(longest, output::display_width(row_label(row, machines.size() == 1)));
    }
  }
  // Looked at before it becomes pixels, so that no number of measurements overflows them.
  const auto most = static_cast<std::size_t>(kLongestSide / figure.row_height);
  if (rows > most || machines.size() > most) {
    throw Error(fmt::format("figure: {} measurements do not fit; draw fewer", rows));
  }
  RowLayout layout;
  layout.left = kMargin + std::clamp(static_cast<int>(text_width(longest, 9)) + 8, kNarrowestLabels,
                                     kWidestLabels);
  layout.width = layout.left + kRowPlotWidth + kTextWidth + kMargin;
  for (auto& lines : machine_lines(machines, layout.width - 2 * kMargin)) {
    std::move(lines.begin(), lines.end(), std::back_inserter(layout.machines));
  }
  layout.legend_top = kMachineTop + static_cast<int>(layout.machines.size()) * kMachineLine + 4;
  layout.head = layout.legend_top + figure.head_room +
                legend_lines(figure.legend, layout.width - 2 * kMargin) * kLegendLine + 4;
  layout.height = layout.head;
  for (std::size_t i = 0; i < events.size(); ++i) {
    layout.height += kEventTop + static_cast<int>(events[i].rows.size()) * figure.row_height +
                     bottom_of(figure, i + 1 == events.size());
  }
  if (layout.height > kLongestSide) {
    throw Error(fmt::format("figure: {} measurements of {} events do not fit; draw fewer", rows,
                            events.size()));
  }
  return layout;
}

void draw_row_head(Canvas& canvas, const RowLayout& layout, const RowFigure& figure) {
  const int room = layout.width - 2 * kMargin;
  canvas.text(kMargin, 18, figure.title, room, 13, kBlack);
  canvas.text(kMargin, 38, figure.note, room, 9, kGrey);
  int y = kMachineTop;
  for (const std::string& line : layout.machines) {
    canvas.text(kMargin, y, line, room, 9, kBlack);
    y += kMachineLine;
  }
  draw_legend(canvas, figure.legend, kMargin, layout.legend_top + kLegendLine / 2, room);
}

}  // namespace

std::vector<EventRows> rows_by_event(const std::vector<MachineGroup>& machines) {
  std::vector<EventRows> events;
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    for (const EventGroup& group : machines[machine].events) {
      auto event = std::find_if(events.begin(), events.end(),
                                [&group](const EventRows& e) { return e.event == group.event; });
      if (event == events.end()) event = events.insert(events.end(), {group.event, {}});
      for (const Column& column : group.columns) event->rows.push_back({column, machine});
    }
  }
  for (EventRows& event : events) {
    std::stable_sort(event.rows.begin(), event.rows.end(),
                     [](const Row& a, const Row& b) { return a.column.level < b.column.level; });
  }
  return events;
}

std::string row_label(const Row& row, bool one_machine) {
  if (one_machine) return row.column.label;
  return fmt::format("{}  {}", row.column.label, machine_name(row.machine));
}

Drawing draw_rows(const std::vector<MachineGroup>& machines, const RowFigure& figure) {
  const std::vector<EventRows> events = rows_by_event(machines);
  const RowLayout layout = lay_out_rows(machines, events, figure);
  const auto write = [&](gnuplotio::Gnuplot& gnuplot) {
    Canvas canvas(gnuplot, layout.width, layout.height);
    gnuplot << "set tics out font ',8'\nset xlabel font ',9' offset 0,0.4\nunset key\n"
               "set style fill solid 1.0 noborder\nset multiplot\n";
    draw_row_head(canvas, layout, figure);
    end_head(canvas, layout.width, layout.height);
    gnuplot << "set border 1\nunset ytics\n";
    int top = layout.head;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const EventRows& event = events[i];
      canvas.text(kMargin, top + kEventTop / 2, event.event, layout.width - 2 * kMargin, 12,
                  kBlack);
      top += kEventTop;
      for (std::size_t row = 0; row < event.rows.size(); ++row) {
        const int y = top + static_cast<int>(row) * figure.row_height + figure.row_height / 2;
        canvas.text(kMargin, y, row_label(event.rows[row], machines.size() == 1),
                    layout.left - kMargin, 9, kBlack);
        canvas.text(layout.left + kRowPlotWidth + 14, y, figure.text(event.rows[row]), kTextWidth,
                    8, kBlack);
      }
      const bool last = i + 1 == events.size();
      const int height = static_cast<int>(event.rows.size()) * figure.row_height;
      const RowFigure::Panel panel{
          i,
          last || !figure.one_axis,
          {layout.left, top, kRowPlotWidth, height},
          {layout.left, layout.head - figure.head_room, kRowPlotWidth, figure.head_room}};
      canvas.margins(panel.area);
      gnuplot << fmt::format("set yrange [{}:0]\n", event.rows.size());
      figure.draw(canvas, event, panel);
      canvas.forget_texts();
      top += height + bottom_of(figure, last);
    }
    gnuplot << "unset multiplot\n";
  };
  return {layout.width, layout.height, record(write)};
}

}  // namespace skid::plots
