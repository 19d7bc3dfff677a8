// Names of core events in perf and in the kernel, and the codes that these names stand for.
#pragma once

#include "src/events/counted.h"
#include "src/events/cpu.h"
#include "src/instructions/counted.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace skid::events {

/// Returns the code that the kernel takes for a generic hardware event of perf ("cycles",
/// "cache-misses"): arch/x86/events/intel/core.c, arch/x86/events/amd/core.c (Zen 2 and later) and
/// drivers/perf/arm_pmuv3.c. Other names give nullopt.
std::optional<std::uint64_t> generic_event(ConfigLayout layout, std::string_view name);

/// Returns what a generic hardware event of perf counts on any CPU; `other` for other names.
Counted counted_by_generic(std::string_view name);

/// Returns the code that the driver of a core PMU takes for an event: that of a generic hardware
/// event, else its config. `type` and `config`: of perf_event_attr. nullopt: it takes none, or a
/// cache event, whose code depends on the core (cache_event()).
std::optional<std::uint64_t> code_of(ConfigLayout layout, std::uint32_t type, std::uint64_t config);

/// Returns the code that perf takes for an event which Intel's files list with a fixed counter:
/// real_event() in tools/perf/pmu-events/jevents.py of Linux 7.2. The codes of the files (0x0100,
/// 0x0200) count nothing on a general counter. `name`: as in the files, in any case. Other names
/// give nullopt.
std::optional<std::uint64_t> fixed_counter_event(std::string_view name);

/// An event that the kernel names in /sys/bus/event_source/devices/PMU/events.
struct KernelEvent {
  std::uint64_t config = 0, config1 = 0;
};

/// Returns the code of an event that the kernel has a name for: of mem-loads or mem-stores on a
/// core of Intel (mem_ld_*, mem_st_* and intel_pmu_init() in arch/x86/events/intel/core.c of
/// Linux 7.2), of branch-brs on Zen 3 (AMD_FAM19H_BRS_EVENT, arch/x86/events/perf_event.h). `cpu`:
/// its name in the catalogue. nullopt: another name, or the core has no such event.
std::optional<KernelEvent> kernel_event(Core core, std::string_view name,
                                        std::string_view cpu = {});

}  // namespace skid::events
