#include "plots/rows.h"

#include "plots/event_grid.h"
#include "plots/labels.h"
#include "src/output/report/grouping.h"
#include "src/support/escape.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::plots {
namespace {

constexpr double kTicWidth = 6;  ///< "100%" and the space beside it, in characters

/// Returns the parts of a text, which commas separate, that fit into some pixels; at least the
/// first one.
std::string fitting_parts(std::string text, const Paper& paper, double pixels) {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  while (paper.fitted(text, pixels) != paper.fitted(text, kUnlimited)) {
    const std::size_t comma = text.rfind(", ");
    if (comma == std::string::npos) break;
    text.resize(comma);
  }
  return paper.fitted(text, pixels);
}

}  // namespace

void RowPlot::begin_event(const std::string& event) {
  // The name is within the plot, where its row has no mark, so that a long one needs no margin.
  add_label(figure.paper.fitted(event, figure.paper.width * 0.85), "0", "left offset 0.5,0");
  ++next_;
}

double RowPlot::add(const std::string& name, const std::string& text) {
  const Paper& paper = figure.paper;
  figure.left_margin = std::max(figure.left_margin, add_label(name, "0", "right offset -1,0"));
  if (!text.empty() && paper.caption && !paper.is_narrow()) {
    // The plot needs some room.
    const double room = std::min(paper.width * 0.45, paper.width - 380);
    const std::string shown = fitting_parts(text, paper, room);
    figure.right_margin = std::max(figure.right_margin, add_label(shown, "1", "left offset 1,0"));
  }
  return next_++;
}

void RowPlot::add_all(const Machines& machines,
                      const std::function<std::string(const analysis::Measurement& m,
                                                      std::size_t machine, double y)>& add_marks) {
  for (const EventOnMachines& event : events_of(machines)) {
    begin_event(event.event);
    std::multimap<int, std::pair<const Column*, std::size_t>> by_level;
    for (std::size_t machine = 0; machine < machines.size(); ++machine) {
      for (const Column& column : event.machines[machine]) {
        by_level.emplace(column.level, std::pair(&column, machine));
      }
    }
    for (const auto& [level, row] : by_level) {
      const std::string text = add_marks(*row.first->measurement, row.second, next_);
      const std::string machine = machine_name(machines, row.second);
      add(row.first->label + (machine.empty() ? "" : "  ") + machine, text);
    }
  }
}

void RowPlot::add_note(std::string_view note, double y) {
  panel.marks.push_back(
      fmt::format("set label '{}' at graph 0.5,first {:.10g} center front boxed", note, y));
}

double RowPlot::add_label(const std::string& text, std::string_view x, std::string_view place) {
  // Labels are used and not tics, whose texts gnuplot cuts after 50 bytes.
  panel.marks.push_back(fmt::format("set label {} at graph {},first {:.10g} {}",
                                    figure.paper.quoted(text), x, next_, place));
  return 1.08 * static_cast<double>(display_width(text)) + 3;
}

Figure RowPlot::finish(double low, std::string_view x_label) {
  const double pad = (100 - low) * 0.02;
  const Paper& paper = figure.paper;
  const double room = paper.width - paper.width_of(figure.left_margin + figure.right_margin);
  int step = low < 60 ? 20 : 5;
  for (const int wider : {10, 20, 50}) {
    const bool is_dense = (100 - low) / step * paper.width_of(kTicWidth) > room;
    if (is_dense) step = std::max(step, wider);
  }
  figure.commands = {
      "set border 1",
      fmt::format("set xrange [{:.10g}:{:.10g}]", low - pad, 100 + pad),
      fmt::format("set xtics {}", step),
      "set format x '%.0f%%'",
      "set grid xtics lw 0.3",
      fmt::format("set yrange [{:.10g}:0.4]", next_ - 0.4),
      "unset ytics",
  };
  figure.x_label = x_label;
  figure.plot_lines = 1.25 * next_;
  figure.least_lines = next_;
  figure.panels.push_back(std::move(panel));
  return std::move(figure);
}

}  // namespace skid::plots
