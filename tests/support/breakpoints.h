// Whether breakpoints fire on this machine: some hypervisors do not virtualize debug registers, and
// the kernel accepts breakpoints all the same.
#pragma once

#include "src/machine/diagnosis.h"
#include "tests/support/prelude.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

namespace skid {

inline constexpr const char* kNoBreakpoints = "no breakpoint fires on this machine";

inline bool breakpoints_fire() {
  static const bool fire = machine::try_event({.type = PERF_TYPE_BREAKPOINT,
                                               .breakpoint = HW_BREAKPOINT_RW,
                                               .user_only = true,
                                               .period = 1}) == machine::kAccepted;
  return fire;
}

}  // namespace skid

#define SKIP_WITHOUT_BREAKPOINTS() \
  if (!skid::breakpoints_fire()) GTEST_SKIP() << skid::kNoBreakpoints
