// On which CPUs PERF_RECORD_MISC_EXACT_IP is evidence, by the kernel's source.
#pragma once

#include "src/machine/machine.h"
#include "src/support/precise_level.h"

namespace skid::events {

/// For an event of a core PMU, or of IBS. `ibs`: an event of ibs_op or ibs_fetch, or one that the
/// kernel hands to them. `unknown` for CPUs that the table does not have.
ExactIp exact_ip_of(const machine::CpuIdentity& cpu, bool ibs);

}  // namespace skid::events
