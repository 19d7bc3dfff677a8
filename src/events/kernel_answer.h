// Which events the kernel refuses to sample, and why: the rules of its drivers, by their source.
#pragma once

#include "src/machine/diagnosis.h"
#include "src/machine/sampling_support.h"

#include <optional>

namespace skid::events {

struct Refusal {
  int error = 0;  ///< errno of perf_event_open(2)
  machine::Reason reason;
};

/// The refusal to be expected on a machine; nullopt: the event is accepted. Sources:
/// kernel/events/core.c (permissions), arch/x86/events/core.c x86_pmu_hw_config() (levels, shortest
/// periods), arch/x86/events/intel/ds.c (constraint tables), arch/x86/events/amd/{core,ibs}.c,
/// drivers/perf/arm_pmu.c.
std::optional<Refusal> expected_refusal(const machine::SamplingSupport& support,
                                        const machine::EventAttempt& attempt);

/// Answers by these rules, for a machine of which only the files are at hand. Refers to `support`.
machine::EventTrial simulated_kernel(const machine::SamplingSupport& support);

/// Explains an answer of the kernel: by the rule that gives the same, by what guests lack, or by
/// the name of the error. Refers to `support`.
machine::Explain explanation_on(const machine::SamplingSupport& support);

}  // namespace skid::events
