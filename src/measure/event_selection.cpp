#include "src/measure/event_selection.h"

#include "analysis/event_identity.h"
#include "src/locate/filter.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/measure.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/recording.h"
#include "src/run/perftool/event_name.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

namespace skid::measure {

namespace {

bool is_name_of(std::string_view name, std::string_view event) {
  auto parts = perftool::split_event_name(event);
  if (name == event || name == parts.name) return true;
  std::erase(parts.modifiers, 'p');
  if (name == perftool::join_event_name(parts)) return true;
  // An event of one core type: "cpu_core/cycles/", which perf 5.15 to 6.0 write with its level,
  // "cpu_core/cycles:pp/". perf records it for "cycles"
  // (tools/perf/Documentation/intel-hybrid.txt).
  const std::size_t open = parts.name.find('/');
  if (!parts.name.starts_with("cpu_") || open == parts.name.npos || !parts.name.ends_with('/')) {
    return false;
  }
  const std::string inner = parts.name.substr(open + 1, parts.name.size() - open - 2);
  const std::string bare = perftool::split_event_name(inner).name;
  return name == bare || name == fmt::format("{}/{}/", parts.name.substr(0, open), bare);
}

}  // namespace

bool is_event_named(std::string_view name, const analysis::EventIdentity& event) {
  return name == event.label || is_name_of(name, event.recorded) ||
         (event.requested && is_name_of(name, *event.requested));
}

bool select_event(const analysis::EventIdentity& event, const locate::Filter& filter,
                  std::uint64_t samples, locate::Filtered& filtered) {
  const auto& names = filter.events;
  const bool is_selected =
      names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
        return is_event_named(name, event);
      });
  filtered.events.insert(event.label);
  filtered.has_event |= is_selected;
  if (!is_selected) filtered.selected -= samples;
  return is_selected;
}

std::vector<bool> selected_events(const Source& source, const perfdata::Recording& recording,
                                  const locate::Filter& filter, locate::Filtered& filtered) {
  const auto machine = recorded_machine(recording.features(), source.run);
  std::vector<bool> selected;
  for (const RecordedEvent& event : describe_events(source, recording, machine)) {
    const bool is_event = !event.attribute.is_dummy() && !is_cross_check(event.attribute, source);
    selected.push_back(is_event ? select_event(event.identity, filter, 0, filtered)
                                : filter.events.empty());
  }
  return selected;
}

}  // namespace skid::measure
