#include "plots/selection.h"

#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "analysis/tally.h"
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
#include <optional>
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

void erase_unsampled(Machines& machines) {
  std::erase_if(machines, [](const auto& machine) { return machine.events.empty(); });
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

Machines group_selected(std::vector<Measurement>& measurements, const FigureOptions& options) {
  if (measurements.empty()) throw Error("figure: no measurements to draw");
  const auto has_samples = [](const Measurement& m) { return m.samples.read() > 0; };
  if (std::ranges::none_of(measurements, has_samples)) {
    throw Error("figure: no measurement has a sample");
  }
  output::EventLevels measured;
  std::erase_if(measurements, [&](const Measurement& m) {
    const int level = m.precise.requested.value_or(m.precise.recorded);
    measured.add(event_name(m), machine::level_name(level));
    return !is_selected(m, level, options);
  });
  for (Measurement& m : measurements) m.event.label = event_name(m);
  Machines machines = output::group_sampled(measurements);
  erase_unsampled(machines);
  if (machines.empty()) throw_none_selected(measured);
  return machines;
}

std::size_t keep_measurements(Machines& machines, bool (*is_kept)(const Measurement&), Kind kind,
                              std::string_view what, std::string_view remedy) {
  std::size_t others = 0;
  for (MachineGroup& machine : machines) {
    for (EventGroup& event : machine.events) {
      others += std::erase_if(event.columns,
                              [&](const Column& column) { return !is_kept(*column.measurement); });
    }
    std::erase_if(machine.events, [](const EventGroup& event) { return event.columns.empty(); });
  }
  erase_unsampled(machines);
  if (machines.empty()) {
    throw ValueError("figure {}: no measurement with {} ({}); {}", name_of(kind), what,
                     analysis::counted(others, "other"), remedy);
  }
  return others;
}

}  // namespace skid::plots
