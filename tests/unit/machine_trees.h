// Trees of machines that are not here, and what can be sampled on them.
#pragma once

#include "src/events/catalogue.h"
#include "src/machine/diagnosis.h"
#include "src/record/probe.h"

#include <string>

#include <linux/perf_event.h>

namespace skid::machine {

/// Of tests/machines.
inline SamplingSupport tree(const std::string& name) {
  return read_sampling_support(SKIDSCAN_TEST_DATA "/machines/" + name);
}

inline Diagnosis diagnose(const SamplingSupport& support, const EventTrial& trial) {
  const auto catalogue = events::find_catalogue(support.machine);
  return record::diagnose(support, catalogue ? &*catalogue : nullptr, trial);
}

inline bool is_hardware(const EventAttempt& attempt) {
  return attempt.type != PERF_TYPE_SOFTWARE && attempt.type != PERF_TYPE_BREAKPOINT;
}

/// Skylake where all may sample the kernel.
inline SamplingSupport open_skylake() {
  SamplingSupport support = tree("skylake");
  support.machine.perf_event_paranoid = 1;
  return support;
}

}  // namespace skid::machine
