// On which counters the kernel schedules a precise event of a core PMU of Intel.
#pragma once

#include "src/events/cpu.h"

#include <cstdint>
#include <optional>

namespace skid::events {

/// A set of counters as in the kernel's event_constraint::idxmsk64: general counters in bits 0 to
/// 31, fixed counters from bit 32 on.
using Counters = std::uint64_t;

/// Returns the counters that an event may be on at a precise level; 0: on none, so that the kernel
/// refuses the event. nullopt: the tables do not have the core. `config`: perf_event_attr.config.
/// `level`: 2 or 3. Fields of the sample that change the answer (the retire latency, counters of
/// branch records) are taken as not requested.
std::optional<Counters> counters_of(Core core, std::uint64_t config, int level);

}  // namespace skid::events
