// What the kernel and the CPU do to an event that changes the meaning of its samples.
#pragma once

#include "src/machine/machine.h"
#include "src/measure/event_knowledge.h"
#include "src/perfdata/attribute.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::measure {

/// What decides about the warnings of one event.
struct RecordedEvent {
  const perfdata::Attribute& attribute;
  std::string_view pmu_name;  ///< of attribute.type, empty when unknown
  const EventKnowledge& knowledge;
  const machine::Machine& machine;      ///< that it was recorded on
  std::optional<std::uint64_t> period;  ///< asked for; nullopt with a frequency
  std::size_t counters = 1;  ///< events of the recording that need a counter of a core PMU each
};

/// Whether an event needs one of the few counters that a core PMU has for any event. Cycles,
/// instructions and reference cycles can be counted in counters of their own.
bool takes_counter(const perfdata::Attribute& attribute, std::string_view pmu_name);

/// Sentences, most important first: not precise at its level, cycles counted by another event,
/// errata of counting one mode and of SMT, an unsupported period, shared counters.
std::vector<std::string> event_warnings(const RecordedEvent& recorded);

}  // namespace skid::measure
