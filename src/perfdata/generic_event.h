// The events that perf itself has a name for.
#pragma once

#include <cstdint>
#include <string_view>

namespace skid::perfdata {

/// An event that perf itself has a name for (perf list hw sw), as perf_event_attr encodes it.
struct GenericEvent {
  std::string_view name;
  std::uint32_t type;
  std::uint64_t config;
};

/// Finds a generic event by its name or an alias; null for other events.
const GenericEvent* find_generic_event(std::string_view name);

/// Returns the name that perf prints for an event of PERF_TYPE_HARDWARE or PERF_TYPE_SOFTWARE;
/// empty for others. The upper half of a hardware event's `config`, which is the PMU's number on
/// hybrid machines, is ignored.
std::string_view generic_name(std::uint32_t type, std::uint64_t config);

}  // namespace skid::perfdata
