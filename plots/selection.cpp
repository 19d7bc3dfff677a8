#include "plots/selection.h"

#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "analysis/wording.h"
#include "plots/figure_kind.h"
#include "plots/figure_options.h"
#include "src/machine/machine.h"
#include "src/measure/event_selection.h"
#include "src/output/report/event_levels.h"
#include "src/output/report/grouping.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::plots {

using analysis::Measurement;
using output::Column;
using output::EventGroup;
using output::MachineGroup;

namespace {

/// Removes columns, and what is empty without them. Returns how many of them have samples.
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
  const std::string_view label = event.label;  // "r20d1:u", or a name: "resource_stalls.any"
  const bool is_raw_code =
      event.type == PERF_TYPE_RAW && label.starts_with('r') &&
      whole_number<std::uint64_t>(label.substr(1, label.find(':') - 1), 16).has_value();
  return is_raw_code && !event.name.empty() ? event.name : event.label;
}

bool is_selected(const Measurement& measurement, int level, const FigureOptions& options) {
  const auto& [events, levels] = std::tie(options.events, options.levels);
  const auto is_named = [&](const std::string& name) {
    return name == event_name(measurement) || measure::is_event_named(name, measurement.event);
  };
  return (levels.empty() || std::find(levels.begin(), levels.end(), level) != levels.end()) &&
         (events.empty() || std::any_of(events.begin(), events.end(), is_named));
}

void throw_none_selected(const output::EventLevels& measured) {
  throw Error("figure: nothing was measured of these events at these levels; expected some of {}",
              measured.text());
}

Machines machines_of(const std::vector<Measurement>& measurements, const FigureOptions& options) {
  if (measurements.empty()) throw Error("figure: no measurements to draw");
  Machines machines = output::group_sampled(measurements);
  if (std::ranges::all_of(machines, &std::vector<EventGroup>::empty, &MachineGroup::events)) {
    throw Error("figure: no measurement has a sample");
  }
  output::EventLevels measured;
  erase_columns(machines, [&](const Column& column) {
    measured.add(event_name(*column.measurement), machine::level_name(column.level));
    return !is_selected(*column.measurement, column.level, options);
  });
  if (machines.empty()) throw_none_selected(measured);
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
    throw ValueError("figure {}: no measurement with {} ({}); {}", name_of(kind), what,
                     analysis::counted(others, "other"), remedy);
  }
  return others;
}

}  // namespace skid::plots
