#include "plots/rows.h"

#include "src/output/escape.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace skid::plots {

void RowPlot::begin_event(const std::string& event) {
  // Within the plot, where its row has no mark: a long name needs no margin.
  double no_margin = 0;
  add_label(figure.paper.fitted(event, figure.paper.width * 0.7), "0,first {} left offset 0.5,0",
            no_margin);
}

double RowPlot::add(const std::string& name, const std::string& text) {
  const Paper& paper = figure.paper;
  if (!text.empty() && paper.caption && !paper.is_narrow()) {
    add_label(paper.fitted(text, paper.width * 0.45), "1,first {} left offset 1,0",
              figure.right_margin);
    --next_;
  }
  add_label(name, "0,first {} right offset -1,0", figure.left_margin);
  return next_ - 1;
}

void RowPlot::add_label(const std::string& text, const std::string& place, double& margin) {
  // Labels and not tics, whose texts gnuplot cuts after 50 bytes.
  panel.marks.push_back(fmt::format("set label {} at graph {}", figure.paper.quoted(text),
                                    fmt::format(fmt::runtime(place), next_)));
  margin = std::max(margin, 1.08 * static_cast<double>(output::display_width(text)) + 3);
  next_ += 1;
}

Figure RowPlot::finish(double low, std::string_view x_label) {
  const double pad = (100 - low) * 0.02;
  figure.commands = {
      "set border 1",
      fmt::format("set xrange [{:.10g}:{:.10g}]", low - pad, 100 + pad),
      fmt::format("set xtics {}", low < 60 ? 20 : 5),
      "set format x '%.0f%%'",
      "set grid xtics lw 0.3",
      fmt::format("set yrange [{:.10g}:0.4]", next_ - 0.4),
      "unset ytics",
  };
  figure.x_label = x_label;
  figure.plot_lines = 1.25 * next_;
  figure.panels.push_back(std::move(panel));
  return std::move(figure);
}

std::vector<Row> rows_of(const EventOnMachines& event, const Machines& machines) {
  std::multimap<int, Row> by_level;
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    const std::string name = machine_name(machines, machine);
    for (const Column& column : event.machines[machine]) {
      const std::string own = column.label + (name.empty() ? "" : "  " + name);
      by_level.emplace(column.level, Row{column.measurement, machine, own});
    }
  }
  std::vector<Row> rows;
  for (auto& [level, row] : by_level) rows.push_back(std::move(row));
  return rows;
}

}  // namespace skid::plots
