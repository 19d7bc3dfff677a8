#include "plots/labels.h"

#include "analysis/wording.h"
#include "src/events/catalogue.h"
#include "src/measure/event_description.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::plots {

using analysis::Measurement;
using output::Column;
using output::EventGroup;
using output::MachineGroup;

namespace {

/// CPU, hypervisor and kernel, and the names of several sources by their letters.
std::string machine_text(const MachineGroup& machine, bool one_of_several) {
  std::string text = output::cpu_name(machine.cpu);
  // Machines of the same name may differ in it.
  if (one_of_several && !machine.cpu.microcode.empty()) {
    text += ", microcode " + machine.cpu.microcode;
  }
  if (machine.cpu.hypervisor) text += ", under " + *machine.cpu.hypervisor;
  if (!machine.kernel.empty()) text += ", Linux " + machine.kernel;
  if (machine.sources.size() > 1) {
    for (const output::Source& source : machine.sources) {
      text += fmt::format("; {}: {}", source.letter, source.name);
    }
  }
  return text;
}

std::string period_text(const analysis::Period& period) {
  if (period.requested) return fmt::format(", period {}", *period.requested);
  if (!period.effective || !std::isfinite(*period.effective)) return {};
  return fmt::format(", period ~{:.0f}", *period.effective);
}

template <typename Predicate>
std::size_t erase_columns(Machines& machines, Predicate is_erased) {
  std::size_t erased = 0;
  for (MachineGroup& machine : machines) {
    for (EventGroup& event : machine.events) erased += std::erase_if(event.columns, is_erased);
    std::erase_if(machine.events, [](const auto& event) { return event.columns.empty(); });
  }
  std::erase_if(machines, [](const auto& machine) { return machine.events.empty(); });
  return erased;
}

/// Pixels of the narrowest panel with its tics.
constexpr double kNarrowestPanel = 300;

}  // namespace

std::string event_name(const Measurement& measurement) {
  const analysis::EventIdentity& event = measurement.event;
  if (event.type != PERF_TYPE_RAW || !event.label.starts_with('r')) return event.label;
  machine::Machine machine;
  machine.cpu = measurement.cpu;
  const auto catalogue = events::find_catalogue(machine);
  if (!catalogue) return event.label;
  const auto found = catalogue->find_code(event.config, event.config1);
  return found.size() == 1 ? found.front().name : event.label;
}

bool is_selected(const Measurement& measurement, int level, const FigureOptions& options) {
  const auto has = [](const auto& list, const auto& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  if (!options.levels.empty() && !has(options.levels, level)) return false;
  if (options.events.empty()) return true;
  return has(options.events, event_name(measurement)) ||
         std::any_of(options.events.begin(), options.events.end(), [&](const std::string& name) {
           return measure::is_event_named(name, measurement.event);
         });
}

void throw_none_selected() {
  throw UsageError(
      "figure: nothing was measured of these events at these levels; name others with --event and "
      "--precise");
}

Machines machines_of(const std::vector<Measurement>& measurements, const FigureOptions& options) {
  if (measurements.empty()) throw Error("figure: no measurements to draw");
  Machines machines = output::group(measurements);
  erase_columns(machines, [&](const Column& column) {
    return !is_selected(*column.measurement, column.level, options);
  });
  if (machines.empty()) throw_none_selected();
  for (MachineGroup& machine : machines) {
    for (EventGroup& event : machine.events) {
      event.event = event_name(*event.columns.front().measurement);
    }
  }
  return machines;
}

std::size_t keep_measurements(Machines& machines, bool (*is_kept)(const Measurement&), Kind kind,
                              std::string_view what, std::string_view remedy) {
  const std::size_t others =
      erase_columns(machines, [&](const Column& column) { return !is_kept(*column.measurement); });
  if (machines.empty()) {
    throw UsageError(fmt::format("--kind {}: no measurement with {} ({} others); {} makes them",
                                 name_of(kind), what, others, remedy));
  }
  return others;
}

Figure begin_figure(std::string_view title, const Machines& machines, const FigureOptions& options,
                    double width) {
  Figure figure{.paper = paper_of(options, width)};
  figure.title =
      (options.title.empty() ? std::string(title) : options.title) + output::title_mark(machines);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const std::string name = machine_name(machines, i);
    figure.head.push_back((name.empty() ? "" : name + ": ") +
                          machine_text(machines[i], machines.size() > 1));
  }
  return figure;
}

std::string machine_name(const Machines& machines, std::size_t machine) {
  return machines.size() == 1 ? "" : fmt::format("CPU {}", machine + 1);
}

std::vector<Column> EventOnMachines::columns() const {
  std::vector<Column> all;
  for (const EventGroup* group : groups) {
    if (group != nullptr) all.insert(all.end(), group->columns.begin(), group->columns.end());
  }
  return all;
}

std::vector<EventOnMachines> events_of(const Machines& machines) {
  std::vector<EventOnMachines> events;
  std::map<std::string, std::size_t> known;
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    for (const EventGroup& group : machines[machine].events) {
      const auto [at, is_new] = known.emplace(group.event, events.size());
      if (is_new) {
        events.push_back({group.event, std::vector<const EventGroup*>(machines.size())});
      }
      events[at->second].groups[machine] = &group;
    }
  }
  return events;
}

EventGrid::EventGrid(std::string_view title, const Machines& machines, const FigureOptions& options)
    : machines_(machines), events_(events_of(machines)) {
  constexpr std::array kWidths{900.0, 1200.0, 1500.0, 1800.0};  // by panels side by side
  const double wanted = static_cast<double>(machines.size() > 1 ? machines.size() : events_.size());
  const std::size_t most = options.width ? 64 : kWidths.size();
  const auto room =
      static_cast<std::size_t>(options.width.value_or(kWidths.back()) / kNarrowestPanel);
  const std::size_t panels = std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1,
                                                     std::clamp<std::size_t>(room, 1, most));
  events_across_ = machines.size() > 1 ? 1 : panels;
  const std::size_t columns = std::max(machines.size(), panels);
  figure = begin_figure(title, machines, options,
                        columns > kWidths.size() ? kNarrowestPanel * static_cast<double>(columns)
                                                 : kWidths.at(columns - 1));
  figure.columns = columns;
}

double EventGrid::plot_width() const {
  constexpr double kMargins = 11;  // characters
  const double margins = figure.paper.width_of(kMargins);
  return std::max(60.0, figure.paper.width / static_cast<double>(figure.columns) - margins);
}

std::string EventGrid::title_of(const EventOnMachines& event, std::size_t machine) const {
  std::string name = machine_name(machines_, machine);
  if (!name.empty()) name += ":  ";
  // A figure of one event without a caption is about it.
  if (name.empty() && events_.size() == 1 && !figure.paper.caption) return {};
  return name + event.event + "\n";
}

std::string EventGrid::fitted(std::string_view title) const {
  std::string lines;
  for (std::string_view rest = title; !rest.empty();) {
    if (!lines.empty()) lines += '\n';
    lines += figure.paper.fitted(take_until('\n', rest), plot_width() + 2 * figure.paper.points);
  }
  return lines;
}

void EventGrid::fill(const std::function<std::vector<std::optional<Panel>>(
                         const EventOnMachines&, const EventGroup&)>& make) {
  for (std::size_t first = 0; first < events_.size(); first += events_across_) {
    std::vector<std::vector<std::optional<Panel>>> columns;
    std::size_t rows = 1;
    for (std::size_t i = first; i < std::min(first + events_across_, events_.size()); ++i) {
      for (std::size_t machine = 0; machine < machines_.size(); ++machine) {
        const EventGroup* group = events_[i].groups[machine];
        auto& column = columns.emplace_back();
        if (group != nullptr) column = make(events_[i], *group);
        const auto top = std::find_if(column.begin(), column.end(),
                                      [](const auto& panel) { return panel.has_value(); });
        if (top != column.end()) (*top)->title.insert(0, title_of(events_[i], machine));
        for (auto& panel : column) {
          if (panel) panel->title = fitted(panel->title);
        }
        rows = std::max(rows, column.size());
      }
    }
    columns.resize(figure.columns);
    for (std::size_t row = 0; row < rows; ++row) {
      for (auto& column : columns) {
        figure.panels.push_back(row < column.size() ? std::move(column[row]) : std::nullopt);
      }
    }
    const double lines = rows == 1 ? 16 : rows == 2 ? 11 : rows <= 4 ? 7.5 : 5.5;
    figure.plot_lines = first == 0 ? lines : std::min(lines, figure.plot_lines);
  }
}

std::string samples_text(const std::vector<const Measurement*>& runs) {
  std::uint64_t samples = 0;
  std::set<std::string> periods;
  for (const Measurement* run : runs) {
    samples += run->samples.read();
    periods.insert(period_text(run->period));
  }
  return analysis::counted(samples, "sample") +
         (periods.size() == 1 ? *periods.begin() : ", several periods");
}

std::string caption_of(const Column& column, const Paper& paper, std::uint64_t beyond) {
  const Measurement& m = *column.measurement;
  if (!paper.caption) return column.label;
  std::string text = column.label + ":  ";
  if (!paper.is_narrow()) text += samples_text({&m}) + ", ";
  text += m.hit_ratio.total > 0 ? "hits " + analysis::percent(m.hit_ratio.value)
                                : std::string("no judged sample");
  if (beyond > 0) text += fmt::format(", {} beyond", beyond);
  return text.append(output::origin_word(output::origin_of(m)));
}

std::string even_line(double height) {
  return fmt::format(
      "set arrow from graph 0,first {0:.10g} to graph 1,first {0:.10g} nohead dt 2 lw 1 front",
      height);
}

std::string line_of(int level, std::size_t n) {
  const std::string line = fmt::format("ls {}", level >= 0 && level <= 3 ? level + 1 : 5);
  return n == 0 ? line
                : fmt::format("{} dt {}", line, 1 + (static_cast<std::size_t>(level) + 1 + n) % 5);
}

void set_count_axis(Panel& panel, double highest, bool logarithmic) {
  // Numbers of as many digits as the margin has room for.
  const char* const many = logarithmic ? "%.0s%c" : "%.1s%c";
  const double top = logarithmic ? std::max(10.0, highest) * 1.5 : std::max(1.0, highest) * 1.08;
  panel.commands.push_back(fmt::format("set yrange [{}:{:.10g}]", logarithmic ? 0.5 : 0, top));
  panel.commands.push_back(fmt::format("set format y '{}'", highest < 1e6 ? "%.0f" : many));
  if (!logarithmic) panel.highest_count = top;
}

std::string offset_label(const Paper& paper) {
  return paper.is_narrow() ? "offset (instructions)" : "offset from trigger (instructions)";
}

void show_nothing_located(Panel& panel) {
  panel.marks = {"set label 'no located samples' at graph 0.5,graph 0.5 center"};
}

std::string label_at(double x, double y, const std::string& quoted, const std::string& style,
                     bool right) {
  return fmt::format("set label {} at {:.10g},{:.10g} {} offset {},0.6 tc {} front", quoted, x, y,
                     right ? "right" : "left", right ? -0.6 : 0.6, style.substr(0, 4));
}

}  // namespace skid::plots
