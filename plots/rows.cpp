#include "plots/rows.h"

#include "src/output/escape.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::plots {

void RowPlot::begin_event(const std::string& event) {
  // Within the plot, where its row has no mark: a long name needs no margin.
  const std::string name = figure.paper.fitted(event, figure.paper.width * 0.7);
  panel.marks.push_back(fmt::format("set label {} at graph 0,first {:.10g} left offset 0.5,0",
                                    figure.paper.quoted(name), next_));
  next_ += 1;
}

double RowPlot::add(const std::string& name, const std::string& text) {
  const Paper& paper = figure.paper;
  // Labels and not tics, whose texts gnuplot cuts after 50 bytes.
  const auto label = [&](const std::string& shown, const char* place, std::size_t& widest) {
    panel.marks.push_back(fmt::format("set label {} at graph {}", paper.quoted(shown),
                                      fmt::format(fmt::runtime(place), next_)));
    widest = std::max(widest, output::display_width(shown));
  };
  label(paper.fitted(name, paper.width * 0.25), "0,first {:.10g} right offset -1,0", widest_name_);
  if (!text.empty() && paper.caption && !paper.is_narrow()) {
    label(paper.fitted(text, paper.width * 0.45), "1,first {:.10g} left offset 1,0", widest_text_);
  }
  next_ += 1;
  return next_ - 1;
}

Figure RowPlot::finish(double low, double high, std::string_view x_label) {
  const double pad = (high - low) * 0.02;
  figure.commands = {
      "set border 1",
      fmt::format("set xrange [{:.10g}:{:.10g}]", low - pad, high + pad),
      fmt::format("set xtics {}", high - low > 40 ? 20 : 5),
      "set format x '%.0f%%'",
      "set grid xtics lw 0.3",
      fmt::format("set yrange [{:.10g}:0.4]", next_ - 0.4),
      "unset ytics",
      fmt::format("set lmargin {}; set rmargin {}", widest_name_ + 3, widest_text_ + 3),
  };
  figure.x_label = x_label;
  figure.plot_lines = 1.25 * next_;
  figure.panels.emplace_back(std::move(panel));
  return std::move(figure);
}

std::vector<EventRows> rows_by_event(const Machines& machines) {
  std::vector<EventRows> all;
  for (const EventOnMachines& event : events_of(machines)) {
    EventRows& rows = all.emplace_back(EventRows{event.event, {}});
    for (std::size_t machine = 0; machine < machines.size(); ++machine) {
      if (event.groups[machine] == nullptr) continue;
      for (const output::Column& column : event.groups[machine]->columns) {
        const std::string suffix = machine_name(machines, machine);
        rows.rows.push_back({column.measurement, machine, column.level,
                             column.label + (suffix.empty() ? "" : "  " + suffix)});
      }
    }
    std::stable_sort(rows.rows.begin(), rows.rows.end(),
                     [](const Row& a, const Row& b) { return a.level < b.level; });
  }
  return all;
}

}  // namespace skid::plots
