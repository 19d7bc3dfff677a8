#include "plots/labels.h"

#include "analysis/basis.h"
#include "analysis/measurement.h"
#include "analysis/statistics.h"
#include "analysis/target_map.h"
#include "analysis/wording.h"
#include "src/events/catalogue.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/support/error.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::plots {

using analysis::Measurement;
using output::EventGroup;
using output::MachineGroup;

namespace {

std::string period_text(const analysis::Period& period) {
  if (period.requested) return fmt::format(", period {}", *period.requested);
  if (!period.effective || !std::isfinite(*period.effective)) return {};
  return fmt::format(", period ~{:.0f}", *period.effective);
}

template <typename Predicate>
std::size_t erase_columns(Machines& machines, Predicate is_erased) {
  std::size_t erased = 0;
  const auto is_empty = [](const EventGroup& event) { return event.columns.empty(); };
  for (MachineGroup& machine : machines) {
    for (EventGroup& event : machine.events) erased += std::erase_if(event.columns, is_erased);
    for (EventGroup& event : machine.unsampled) std::erase_if(event.columns, is_erased);
    std::erase_if(machine.events, is_empty);
    std::erase_if(machine.unsampled, is_empty);
  }
  std::erase_if(machines, [](const auto& machine) { return machine.events.empty(); });
  return erased;
}

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
  const auto& [events, levels] = std::tie(options.events, options.levels);
  const auto is_named = [&](const std::string& name) {
    return name == event_name(measurement) || measure::is_event_named(name, measurement.event);
  };
  return (levels.empty() || std::find(levels.begin(), levels.end(), level) != levels.end()) &&
         (events.empty() || std::any_of(events.begin(), events.end(), is_named));
}

void throw_none_selected() {
  throw UsageError(
      "figure: nothing was measured of these events at these levels; name others with --event and "
      "--precise");
}

Machines machines_of(const std::vector<Measurement>& measurements, const FigureOptions& options) {
  if (measurements.empty()) throw Error("figure: no measurements to draw");
  Machines machines = output::group_sampled(measurements);
  if (std::ranges::all_of(machines, &std::vector<EventGroup>::empty, &MachineGroup::events)) {
    throw Error("figure: no measurement has a sample");
  }
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
    throw UsageError("--kind {}: no measurement with {} ({} others); {} makes them", name_of(kind),
                     what, others, remedy);
  }
  return others;
}

Figure begin_figure(std::string_view title, const Machines& machines, const FigureOptions& options,
                    double width) {
  Figure figure{.paper = paper_of(options, width)};
  figure.title =
      (options.title.empty() ? std::string(title) : options.title) + output::title_mark(machines);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const MachineGroup& machine = machines[i];
    const std::string name = machine_name(machines, i);
    std::string text =
        (name.empty() ? "" : name + ": ") + output::machine_text(machine.cpu, machine.kernel);
    for (const output::Source& source : machine.sources) {
      if (machine.sources.size() > 1) {
        text += fmt::format("; {}: {}", source.letter, source.name);
      } else if (machines.size() > 1) {
        text += "; " + source.name;
      }
    }
    figure.head.push_back(std::move(text));
  }
  return figure;
}

std::string machine_name(const Machines& machines, std::size_t machine) {
  return machines.size() == 1 ? "" : fmt::format("CPU {}", machine + 1);
}

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

EventGrid::EventGrid(std::string_view title, const Machines& machines, const FigureOptions& options)
    : machines_(machines), events_(events_of(machines)) {
  constexpr double kNarrowest = 300, kMostEvents = 4;  // pixels of a panel; events side by side
  const double room = std::clamp(options.width.value_or(1800) / kNarrowest, 1.0, kMostEvents);
  if (machines.size() == 1) {
    events_across_ = std::clamp<std::size_t>(events_.size(), 1, static_cast<std::size_t>(room));
  }
  const std::size_t columns = machines.size() * events_across_;
  figure = begin_figure(title, machines, options, kNarrowest * (static_cast<double>(columns) + 2));
  figure.columns = columns;
  std::map<int, int> of_level;
  for (const EventOnMachines& event : events_) {
    for (const Column& column : event.all) {
      const auto [line, is_new] = lines_.try_emplace(column.label);
      if (!is_new) continue;
      const int level = column.level >= 0 && column.level <= 3 ? column.level : 4;
      line->second = fmt::format("ls {}", level + 1);
      const int before = of_level[level]++;
      if (before > 0) line->second += fmt::format(" dt {}", 1 + (level + 1 + before) % 5);
    }
  }
}

double EventGrid::plot_width() const {
  const double margins = figure.paper.width_of(figure.left_margin);
  return std::max(60.0, figure.paper.width / static_cast<double>(figure.columns) - margins);
}

void EventGrid::add_line_keys(const std::string& style) {
  for (const auto& [label, line] : lines_) figure.keys.push_back({style + ' ' + line, label});
}

void EventGrid::add_block(std::size_t first, bool by_level, const MakePanel& make) {
  using Place = std::pair<int, std::size_t>;  // level, and the number of the measurement
  std::vector<std::map<Place, std::vector<Column>>> columns(figure.columns);
  std::set<Place> rows;
  const std::size_t across = std::min(events_across_, events_.size() - first) * machines_.size();
  const auto measured = [&](std::size_t column) {
    return events_[first + column / machines_.size()].machines[column % machines_.size()];
  };
  for (std::size_t i = 0; i < across; ++i) {
    std::map<int, std::size_t> of_level;
    for (const Column& one : measured(i)) {
      const Place place = by_level ? Place{one.level, of_level[one.level]++} : Place{};
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
        panel.title.insert(0, name + '\n');
        continue;
      }
      // The event is above its panels of all machines, where the titles leave a line.
      panel.title.insert(0, " \n" + machine_name(machines_, i) + '\n');
      if (i > 0) continue;
      const auto lines = std::count(panel.title.begin(), panel.title.end(), '\n');
      panel.marks.push_back(fmt::format("set label {} at character 3,graph 1 offset 0,{:.1f} left",
                                        figure.paper.quoted(name, figure.paper.width),
                                        1.3 + 0.95 * static_cast<double>(lines)));
    }
  }
}

void EventGrid::fill(bool by_level, const MakePanel& make) {
  for (std::size_t i = 0; i < events_.size(); i += events_across_) add_block(i, by_level, make);
  const auto rows = static_cast<double>(figure.panels.size() / figure.columns);
  figure.plot_lines = std::clamp(30 / rows, by_level ? 5.5 : 11, 16.0);
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

std::string run_text(const Measurement& m) {
  return samples_text({&m}) + std::string(output::origin_word(output::origin_of(m)));
}

std::string hits_text(const Measurement& m, std::uint64_t beyond) {
  return (m.hit_ratio.total > 0 ? "hits " + analysis::percent(m.hit_ratio.value)
                                : std::string("no judged sample")) +
         (beyond > 0 ? fmt::format(", {} beyond", beyond) : "");
}

void EventGrid::add_caption(Panel& panel, const Column& column, const std::string& text) const {
  if (!panel.title.empty()) panel.title += '\n';
  panel.title += column.label + ":  " + text;
  if (figure.paper.caption) panel.title += ", " + run_text(*column.measurement);
}

void add_class_keys(Figure& figure, const analysis::Breakdown& all, std::size_t classes) {
  for (std::size_t i = 0; i < classes; ++i) {
    const auto sample_class = static_cast<analysis::SampleClass>(i);
    if (all[sample_class] == 0) continue;
    figure.keys.push_back({fmt::format("with boxes lc rgb class[{}]", i + 1),
                           std::string(analysis::describe(sample_class))});
  }
}

namespace {

constexpr double kHalfSample = 0.5;  // where logarithmic axes begin

double top_of(double highest, bool logarithmic) {
  return logarithmic ? std::max(10.0, highest) * 1.5 : std::max(1.0, highest) * 1.08;
}

}  // namespace

double count_height(double count, double highest, bool logarithmic) {
  const double top = top_of(highest, logarithmic);
  if (!logarithmic) return count / top;
  return std::log(std::max(kHalfSample, count) / kHalfSample) / std::log(top / kHalfSample);
}

std::vector<std::string> count_axis(double highest, bool logarithmic, bool is_low) {
  const double top = top_of(highest, logarithmic);
  // Tics for which the lowest plots have room.
  const std::int64_t step = round_up_nicely(top / (is_low ? 3 : 5));
  // Numbers of as many digits as the margin has room for.
  double unit = 1;
  while (highest >= 1e6 && unit * 1000 <= top) unit *= 1000;
  const bool is_whole = std::fmod(static_cast<double>(step), unit) == 0 || logarithmic;
  return {fmt::format("set yrange [{}:{:.10g}]", logarithmic ? kHalfSample : 0, top),
          fmt::format("set format y '{}'", unit == 1  ? "%.0f"
                                           : is_whole ? "%.0s%c"
                                                      : "%.1s%c"),
          logarithmic ? "set ytics autofreq" : fmt::format("set ytics {}", step)};
}

std::string even_line(double height) {
  return fmt::format(
      "set arrow from graph 0,first {0:.10g} to graph 1,first {0:.10g} nohead dt 2 lw 1 front",
      height);
}

}  // namespace skid::plots
