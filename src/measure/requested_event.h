// Which event was requested for an attribute of a recording, and whether it is the recorded one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {
enum class ConfigLayout;
}  // namespace skid::events

namespace skid::perfdata {
class Recording;
struct Attribute;
}  // namespace skid::perfdata

namespace skid::measure {

/// Whether another event was recorded than `requested` names: perf silently records cpu-clock for
/// cycles where there is no PMU. `requested` may be a perf event or a built-in name. `layout` is
/// that of the recorded CPU.
bool is_substituted(std::string_view requested, const perfdata::Attribute& recorded,
                    events::ConfigLayout layout);

/// Whether an attribute is certainly the requested event, by its name, generic event or code;
/// modifiers and levels aside. `layout` is that of the recorded CPU.
bool is_recorded_as_requested(std::string_view requested, const perfdata::Attribute& recorded,
                              events::ConfigLayout layout);

/// Returns the events that arguments of -e request, one entry per measured event in their order;
/// empty when they do not show it (groups, another number of events).
std::vector<std::string> requested_events(const std::vector<std::string>& arguments,
                                          std::size_t measured_events);

/// Returns by attribute what the recording's own command line requested, including the default of
/// its version of perf; nullopt where unknown, and for dummy events.
std::vector<std::optional<std::string>> requested_by_attribute(
    const perfdata::Recording& recording);

}  // namespace skid::measure
