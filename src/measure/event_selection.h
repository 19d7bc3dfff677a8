// Which events a filter selects by name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace skid::analysis {
struct EventIdentity;
}  // namespace skid::analysis

namespace skid::locate {
struct Filter;
struct Filtered;
}  // namespace skid::locate

namespace skid::perfdata {
class Recording;
}  // namespace skid::perfdata

namespace skid::measure {

struct Source;

/// Whether an event has this name, as requested or recorded: with its level and modifiers,
/// without the level, or without both.
bool is_event_named(std::string_view name, const analysis::EventIdentity& event);

/// Whether an event has one of the filter's names: as requested, as recorded, or without level and
/// modifiers. Without names all events are selected. Notes the event, and takes its `samples` off
/// those selected otherwise.
bool select_event(const analysis::EventIdentity& event, const locate::Filter& filter,
                  std::uint64_t samples, locate::Filtered& filtered);

/// Calls select_event() for all events of a recording, before its samples are read. The results are
/// by attribute.
std::vector<bool> selected_events(const Source& source, const perfdata::Recording& recording,
                                  const locate::Filter& filter, locate::Filtered& filtered);

}  // namespace skid::measure
