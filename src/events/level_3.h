// What precise level 3 (:ppp) adds to level 2, by CPU and event.
#pragma once

#include "src/events/cpu.h"
#include "src/events/event.h"

#include <string_view>

namespace skid::events {

enum class Level3 {
  unknown,   ///< no source states it
  refused,   ///< the kernel has no level 3 on this CPU
  level_2,   ///< accepted, and the same as level 2
  distinct,  ///< precise distribution: reduced skid of the choice of the sample, not of its address
};

/// "unknown", "refused", "same as level 2", "distinct".
std::string_view name_of(Level3 level);

/// From the kernel (arch/x86/events/core.c, x86_pmu_max_precise(): pebs_prec_dist;
/// arch/x86/events/intel/core.c: intel_pebs_aliases_precdist(), fixed0_constraint and the comments
/// of intel_pmu_init(); arch/x86/events/amd/ibs.c; drivers/perf/arm_pmu.c) and, where event files
/// have it, PDISTCounter.
Level3 level_3_of(const Cpu& cpu, const Event& event);

}  // namespace skid::events
