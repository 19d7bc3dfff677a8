#include "plots/event_grid.h"

#include "plots/figure_options.h"
#include "plots/labels.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::plots {

using output::EventGroup;

std::vector<EventOnMachines> events_of(const Machines& machines) {
  std::vector<EventOnMachines> events;
  std::map<std::string, std::size_t> known;
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    for (const EventGroup& group : machines[machine].events) {
      const auto [at, is_new] = known.emplace(group.event, events.size());
      if (is_new) {
        events.push_back({group.event, std::vector<std::vector<Column>>(machines.size())});
      }
      EventOnMachines& event = events[at->second];
      event.machines[machine] = group.columns;
      event.all.insert(event.all.end(), group.columns.begin(), group.columns.end());
    }
  }
  return events;
}

EventGrid::EventGrid(std::string_view title, const Machines& machines, const FigureOptions& options,
                     bool by_level)
    : machines_(machines), events_(events_of(machines)), by_level_(by_level) {
  // The least width of a panel in pixels; the most events side by side.
  constexpr double kNarrowest = 300, kMostEvents = 4;
  const double room = std::clamp(options.width.value_or(1800) / kNarrowest, 1.0, kMostEvents);
  if (machines.size() == 1) {
    events_across_ = std::clamp<std::size_t>(events_.size(), 1, static_cast<std::size_t>(room));
  }
  const std::size_t columns = machines.size() * events_across_;
  figure = begin_figure(title, machines, options, kNarrowest * (static_cast<double>(columns) + 2));
  figure.columns = columns;
  // The least width of a plot in characters, as in layout_of().
  constexpr double kNarrowestPlot = 12;
  const double two = 2 * (figure.left_margin + figure.right_margin + kNarrowestPlot);
  has_levels_across_ =
      by_level && columns == 1 && figure.paper.is_narrow() &&
      figure.paper.width_of(two) <= figure.paper.width &&
      std::ranges::any_of(events_, [](const auto& event) { return event.all.size() > 2; });
  if (has_levels_across_) figure.columns = 2;
  std::map<int, int> of_style;
  for (const EventOnMachines& event : events_) {
    for (const Column& column : event.all) {
      const auto [line, is_new] = lines_.try_emplace(column.label);
      if (!is_new) continue;
      const int style = style_of(column);
      line->second = fmt::format("ls {}", style);
      const int before = of_style[style]++;
      if (before > 0) line->second += fmt::format(" dt {}", 1 + (style + before) % 5);
    }
  }
}

double EventGrid::plot_width() const {
  const double margins = figure.paper.width_of(figure.left_margin);
  return std::max(60.0, figure.paper.width / static_cast<double>(figure.columns) - margins);
}

int EventGrid::style_of(const Column& column) {
  return 1 + (column.level >= 0 && column.level <= 3 ? column.level : 4);
}

std::string EventGrid::line_of(const Column& column, std::size_t left) const {
  constexpr std::size_t kMostWidths = 4;
  const std::string& line = lines_.at(column.label);
  return left < 2 || left > kMostWidths
             ? line
             : fmt::format("{} lw {:g}", line, 0.6 + 0.6 * static_cast<double>(left));
}

/// Returns the label of an event above the panel that is its first one, whose title has a line for
/// it.
std::string EventGrid::name_mark(const std::string& name, const Panel& panel) const {
  const auto lines = std::count(panel.title.begin(), panel.title.end(), '\n');
  return fmt::format("set label {} at character 3,graph 1 offset 0,{:.1f} left",
                     figure.paper.quoted(name, figure.paper.width),
                     1.3 + 0.95 * static_cast<double>(lines));
}

/// Adds the panels of an event's levels, two in a row.
void EventGrid::add_levels(const EventOnMachines& event, const MakePanel& make) {
  const std::size_t first = figure.panels.size();
  for (const Column& column : event.all) {
    Panel& panel = figure.panels.emplace_back(make(event, {column}));
    if (figure.panels.size() > first + 2) continue;
    panel.title.insert(0, " \n");
    if (figure.panels.size() == first + 1) {
      panel.marks.push_back(name_mark(event.event + panel.remark, panel));
    }
  }
  if (event.all.size() % 2 == 1) figure.panels.emplace_back();
}

void EventGrid::add_line_keys(const std::string& style) {
  for (const auto& [label, line] : lines_) figure.keys.push_back({style + ' ' + line, label});
}

void EventGrid::add_block(std::size_t first, const MakePanel& make) {
  using Place = std::pair<int, std::size_t>;  // a level, and the number of the measurement
  std::vector<std::map<Place, std::vector<Column>>> columns(figure.columns);
  std::set<Place> rows;
  const std::size_t across = std::min(events_across_, events_.size() - first) * machines_.size();
  const auto measured = [&](std::size_t column) {
    return events_[first + column / machines_.size()].machines[column % machines_.size()];
  };
  for (std::size_t i = 0; i < across; ++i) {
    std::map<int, std::size_t> of_level;
    for (const Column& one : measured(i)) {
      const Place place = by_level_ ? Place{one.level, of_level[one.level]++} : Place{};
      columns[i][place].push_back(one);
      rows.insert(place);
    }
  }
  for (const Place& row : rows) {
    for (std::size_t i = 0; i < figure.columns; ++i) {
      Panel& panel = figure.panels.emplace_back();
      const bool is_first = row == *rows.begin();
      if (i >= across || (!is_first && measured(i).empty())) continue;
      const EventOnMachines& event = events_[first + i / machines_.size()];
      const auto& shown = columns[i][row];
      panel = make(event, shown);
      if (shown.empty()) panel.marks = {"set label 'not measured' at graph 0.5,graph 0.5 center"};
      if (!is_first) continue;
      const std::string name = event.event + panel.remark;
      if (machines_.size() == 1) {
        panel.title.insert(0, name + (panel.title.empty() ? "" : "\n"));
        continue;
      }
      // The event is above its panels of all machines, where the titles leave a line.
      panel.title.insert(0, " \n" + machine_name(machines_, i) + '\n');
      if (i > 0) continue;
      panel.marks.push_back(name_mark(name, panel));
    }
  }
}

void EventGrid::fill(const MakePanel& make) {
  for (std::size_t i = 0; i < events_.size(); i += events_across_) {
    has_levels_across_ ? add_levels(events_[i], make) : add_block(i, make);
  }
  const auto rows = static_cast<double>(figure.panels.size() / figure.columns);
  figure.plot_lines = std::clamp(30 / rows, by_level_ ? 5.5 : 11, 16.0);
}

void EventGrid::add_caption(Panel& panel, const Column& column, const std::string& text) const {
  if (!panel.title.empty()) panel.title += '\n';
  panel.title += column.label + ":  " + text;
  if (!figure.paper.caption) return;
  if (!has_levels_across_) {
    panel.title += ", " + run_text(*column.measurement);
    return;
  }
  // Narrow panels have a line for each: hits, samples, period. The origin is in the figure's title.
  panel.title += '\n' + samples_text({column.measurement}, "\n");
}

}  // namespace skid::plots
