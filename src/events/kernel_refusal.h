// Why the kernel refuses an event.
#pragma once

#include "src/machine/answer_reason.h"

namespace skid::machine {
struct SamplingSupport;
}  // namespace skid::machine

namespace skid::events {

/// Makes a function that explains an answer of the kernel of this machine: by the rule that refuses
/// such an event with the same error, by what guests lack, or by the name of the error. Sources:
/// arch/x86/events/core.c x86_pmu_hw_config() (levels, shortest periods),
/// arch/x86/events/intel/ds.c (constraint tables), arch/x86/events/amd/{core,brs,ibs}.c. It refers
/// to `support`.
machine::Explain explanation_on(const machine::SamplingSupport& support);

}  // namespace skid::events
