#include "plots/kinds.h"
#include "plots/offset_bins.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::SampleClass;
using output::Column;

constexpr double kPixelsPerBin = 6;
/// Where a logarithmic axis begins: below a single sample, so that its bar is visible.
constexpr double kLowestLog = 0.5;
/// The right side of hits in outlines, whose axis has room for a single offset.
constexpr double kEndOfHits = 0.5;

std::string color_of(SampleClass sample_class) {
  return fmt::format("lc rgb class[{}]", static_cast<int>(sample_class) + 1);
}

/// The bars of each class. Classes differ in their place, too: plain colours are enough.
std::vector<Series> series_of(const Bars& bars, bool logarithmic) {
  std::map<SampleClass, Rows> rows;
  for (const Bar& bar : bars.bars) {
    const auto bottom = static_cast<double>(bar.bottom);
    rows[bar.sample_class].push_back({bar.left, bar.right,
                                      logarithmic ? std::max(kLowestLog, bottom) : bottom,
                                      static_cast<double>(bar.bottom + bar.count)});
  }
  std::vector<Series> series;
  for (auto& [sample_class, of_class] : rows) {
    series.push_back(
        {"using 1:4:1:2:3:4 with boxxyerror " + color_of(sample_class), std::move(of_class)});
  }
  return series;
}

Panel bar_panel(const Bars& bars, bool logarithmic) {
  Panel panel{.marks = {kTriggerLine}, .series = series_of(bars, logarithmic)};
  set_count_axis(panel, static_cast<double>(bars.highest), logarithmic);
  if (bars.bars.empty()) show_nothing_located(panel);
  return panel;
}

/// The heights of bins as a line, and the highest of its points.
struct Outline {
  Rows line;
  double x = 0, height = -1;
};

Outline outline_of(const Bars& bars, const OffsetAxis& axis, double floor) {
  std::map<double, std::uint64_t> heights;  // by the left side
  for (const Bar& bar : bars.bars) heights[bar.left] = bar.bottom + bar.count;
  Outline outline{.line = {{static_cast<double>(axis.lowest) - 0.5, floor}}};
  const auto add = [&](double left, double right) {
    const auto found = heights.find(left);
    const double height = found == heights.end() ? floor : static_cast<double>(found->second);
    auto& line = outline.line;
    // A level part is a single line.
    if (line.size() > 1 && line.back()[1] == height) {
      line.back()[0] = right;
    } else {
      line.push_back({left, height});
      line.push_back({right, height});
    }
    if (height > outline.height) outline = {std::move(line), (left + right) / 2, height};
  };
  for (std::int64_t lo = axis.lowest; lo <= axis.highest; lo += axis.width) {
    const double left = static_cast<double>(lo) - 0.5;
    const double right = left + static_cast<double>(axis.width);
    const double middle = lo == 0 ? kEndOfHits : right;
    add(left, middle);
    if (middle < right) add(middle, right);
  }
  return outline;
}

/// The measurements of `group` at a level.
std::vector<const Column*> columns_at(const output::EventGroup& group, int level) {
  std::vector<const Column*> columns;
  for (const Column& column : group.columns) {
    if (column.level == level) columns.push_back(&column);
  }
  return columns;
}

/// A row for each level, and for each of its measurements on the machine with the most: those of a
/// level are side by side. null: not measured.
std::vector<const Column*> rows_of(const EventOnMachines& event, const output::EventGroup& group) {
  std::set<int> levels;
  for (const Column& column : event.columns()) levels.insert(column.level);
  std::vector<const Column*> rows;
  for (const int level : levels) {
    auto own = columns_at(group, level);
    std::size_t most = 0;
    for (const output::EventGroup* other : event.groups) {
      if (other != nullptr) most = std::max(most, columns_at(*other, level).size());
    }
    own.resize(most);
    rows.insert(rows.end(), own.begin(), own.end());
  }
  return rows;
}

/// All levels as outlines, each with its name at its highest point; names of the same place are
/// below each other.
Panel overlaid_panel(const std::vector<Column>& columns, const OffsetAxis& axis,
                     const OffsetScale& scale, const FigureOptions& options, const Paper& paper) {
  constexpr double kNameHeight = 0.09;
  Panel panel{.marks = {kTriggerLine}};
  double highest = 0;
  std::vector<Outline> outlines;
  std::map<int, std::size_t> of_level;
  for (const Column& column : columns) {
    const Bars bars = bars_of(*column.measurement, axis, kEndOfHits);
    panel.title +=
        (&column == &columns.front() ? "" : "\n") + caption_of(column, paper, bars.beyond);
    outlines.push_back(outline_of(bars, axis, options.logarithmic ? kLowestLog : 0));
    highest = std::max(highest, outlines.back().height);
  }
  std::map<int, double> names_at;  // by twentieths of the width
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string line = line_of(columns[i].level, of_level[columns[i].level]++);
    const double place = scale.place_of(outlines[i].x);
    double y = outlines[i].height / std::max(1.0, highest);
    for (int at = static_cast<int>(place * 10) - 1; at <= static_cast<int>(place * 10) + 1; ++at) {
      const auto above = names_at.find(at);
      if (above != names_at.end()) y = std::min(y, above->second - kNameHeight);
    }
    names_at[static_cast<int>(place * 10)] = y;
    const double height = options.logarithmic ? std::max(1.0, outlines[i].height) : y * highest;
    panel.marks.push_back(
        label_at(outlines[i].x, height, paper.quoted(columns[i].label), line, place > 0.7));
    panel.series.push_back({"using 1:2 with lines " + line, std::move(outlines[i].line)});
  }
  set_count_axis(panel, highest, options.logarithmic);
  return panel;
}

}  // namespace

Figure histogram_figure(const Machines& machines, const FigureOptions& options) {
  EventGrid grid("Where samples land", machines, options);
  Figure& figure = grid.figure;
  const double width = grid.plot_width();
  std::set<SampleClass> present;
  figure.x_label = offset_label(figure.paper);
  figure.y_label = "samples";
  grid.fill([&](const EventOnMachines& event, const output::EventGroup& group) {
    OffsetAxis axis =
        choose_axis(event.columns(), static_cast<std::int64_t>(width / kPixelsPerBin) + 1);
    const bool overlaid = options.arrangement == Arrangement::overlaid;
    const OffsetScale scale = overlaid ? scale_of_lines(axis) : linear_scale(axis);
    std::vector<std::optional<Panel>> panels;
    if (overlaid) {
      panels.emplace_back(overlaid_panel(group.columns, axis, scale, options, figure.paper));
    } else {
      for (const Column* column : rows_of(event, group)) {
        auto& panel = panels.emplace_back();
        if (column == nullptr) continue;
        const Bars bars = bars_of(*column->measurement, axis, end_of_hits(axis));
        panel = bar_panel(bars, options.logarithmic);
        panel->title = caption_of(*column, figure.paper, bars.beyond);
        for (const Bar& bar : bars.bars) present.insert(bar.sample_class);
      }
    }
    const auto x = scale.settings(width, figure.paper);
    for (auto& panel : panels) {
      if (!panel) continue;
      panel->commands.insert(panel->commands.begin(), x.begin(), x.end());
      if (axis.width > 1)
        panel->x_label = fmt::format("{}, bins of {}", figure.x_label, axis.width);
    }
    return panels;
  });
  if (options.logarithmic) figure.commands.emplace_back("set logscale y");
  for (const SampleClass sample_class : present) {
    figure.keys.push_back(
        {"with boxes " + color_of(sample_class), std::string(analysis::words_for(sample_class))});
  }
  return figure;
}

}  // namespace skid::plots
