// Whether the kernel takes an event, asked of the kernel itself.
#pragma once

#include <cstdint>
#include <functional>

namespace skid::machine {

/// An event to sample, in the terms of perf_event_attr.
struct EventAttempt {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint32_t breakpoint = 0;  ///< HW_BREAKPOINT_RW or HW_BREAKPOINT_X; 0: no breakpoint
  int precise_ip = 0;            ///< 0 to 3
  bool user_only = false;        ///< exclude_kernel
};

/// Opens the event for sampling of this process, disabled, and closes it again. Returns 0 or the
/// errno of perf_event_open(2). A breakpoint watches memory of this program and never fires.
int try_event(const EventAttempt& attempt);

/// Answers as `try_event` does; tests bring their own.
using EventTrial = std::function<int(const EventAttempt&)>;

}  // namespace skid::machine
