// The events that perf itself has a name for.
#pragma once

#include "src/machine/answer_reason.h"

#include <cstdint>
#include <string_view>

namespace skid::perftool {

/// An event that perf itself has a name for (perf list hw sw), as perf_event_attr encodes it.
struct GenericEvent {
  std::string_view name;
  std::uint32_t type;
  std::uint64_t config;
};

/// Finds a generic event by its name or an alias; null for other events.
const GenericEvent* find_generic_event(std::string_view name);

/// Returns perf's first name for an event of PERF_TYPE_HARDWARE; empty for an unknown one. The
/// upper half of `config`, which is the PMU's number on hybrid machines, is ignored.
std::string_view generic_hardware_name(std::uint64_t config);

/// Returns what samples a perf event; a PMU for events without a generic name.
machine::SampledBy sampled_by(std::string_view perf_event);

}  // namespace skid::perftool
