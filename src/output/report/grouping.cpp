#include "src/output/report/grouping.h"

#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "analysis/tally.h"
#include "src/output/name_list.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Measurement;

const std::string& source_name(const Measurement& measurement) {
  return measurement.run.empty() ? measurement.file : measurement.run;
}

std::size_t source_index(const MachineGroup& machine, const Measurement& measurement) {
  const auto found = std::ranges::find(machine.sources, source_name(measurement), &Source::name);
  return static_cast<std::size_t>(found - machine.sources.begin());
}

/// Orders the columns of an event and labels each so that no two labels are the same.
void label_columns(const MachineGroup& machine, EventGroup& event) {
  const auto order = [&machine](const Column& column) {
    return std::make_tuple(column.level, source_index(machine, *column.measurement),
                           column.measurement->repeat);
  };
  std::ranges::stable_sort(event.columns, {}, order);

  const bool repeated = std::ranges::any_of(
      event.columns, [](const Column& c) { return c.measurement->repeat != 1; });
  std::map<std::string, int> used;
  for (Column& column : event.columns) {
    column.label = level_name(column.level);
    if (machine.sources.size() > 1) {
      column.label += ' ' + machine.sources[source_index(machine, *column.measurement)].letter;
    }
    if (repeated) column.label += fmt::format(" #{}", column.measurement->repeat);
    // One file can hold the same event twice.
    column.label = numbered(column.label, ++used[column.label]);
  }
}

}  // namespace

std::string letter_of(std::size_t index) {
  std::string text;
  for (++index; index > 0; index = (index - 1) / 26) {
    text.insert(text.begin(), static_cast<char>('a' + (index - 1) % 26));
  }
  return text;
}

std::vector<MachineGroup> group(const std::vector<Measurement>& measurements) {
  std::vector<MachineGroup> machines;
  const auto machine_of = [](const MachineGroup& m) { return std::tie(m.cpu, m.kernel); };
  for (const Measurement& measurement : measurements) {
    MachineGroup& machine =
        find_or_add(machines, machine_of, {measurement.cpu, measurement.kernel, false, {}, {}});
    machine.synthetic = machine.synthetic || measurement.synthetic;
    find_or_add(
        machine.sources, &Source::name,
        {letter_of(machine.sources.size()), source_name(measurement), !measurement.run.empty()});
    EventGroup& event =
        find_or_add(machine.events, &EventGroup::event, {measurement.event.label, {}});
    const int level = measurement.precise.requested.value_or(measurement.precise.recorded);
    event.columns.push_back({&measurement, level, {}});
  }
  for (MachineGroup& machine : machines) {
    for (EventGroup& event : machine.events) label_columns(machine, event);
  }
  return machines;
}

std::vector<MachineGroup> group_sampled(const std::vector<Measurement>& measurements) {
  std::vector<MachineGroup> machines = group(measurements);
  const auto has_samples = [](const Column& column) {
    return column.measurement->samples.read() > 0;
  };
  for (MachineGroup& machine : machines) {
    for (EventGroup& event : machine.events) {
      const auto without =
          std::stable_partition(event.columns.begin(), event.columns.end(), has_samples);
      if (without == event.columns.end()) continue;
      machine.unsampled.push_back({event.event, {without, event.columns.end()}});
      event.columns.erase(without, event.columns.end());
    }
    std::erase_if(machine.events, [](const EventGroup& event) { return event.columns.empty(); });
  }
  return machines;
}

}  // namespace skid::output
