// What precise level 3 (:ppp) adds to level 2, by CPU and event.
#pragma once

#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/support/precise_level.h"

namespace skid::events {

/// From the kernel (arch/x86/events/core.c, x86_pmu_max_precise(): pebs_prec_dist;
/// arch/x86/events/intel/core.c: intel_pebs_aliases_precdist(), fixed0_constraint and the comments
/// of intel_pmu_init(); arch/x86/events/amd/ibs.c; drivers/perf/arm_pmu.c) and, where event files
/// have it, PDISTCounter.
LevelThree level_3_of(const Cpu& cpu, const Event& event);

}  // namespace skid::events
