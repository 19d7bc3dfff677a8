// Opening an event for sampling, and the answer of the kernel.
#pragma once

#include <cstdint>
#include <functional>

namespace skid::machine {

/// An event to sample, in the terms of perf_event_attr and perf_event_open(2).
struct EventAttempt {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0, config2 = 0;
  std::uint32_t breakpoint = 0;       ///< HW_BREAKPOINT_RW or HW_BREAKPOINT_X; 0: no breakpoint
  int precise_ip = 0;                 ///< 0 to 3
  bool user_only = false;             ///< exclude_kernel
  std::uint64_t period = kAnyPeriod;  ///< events per sample, or samples per second
  bool frequency = false;             ///< `period` is in samples per second
  bool call_graph = false;            ///< PERF_SAMPLE_CALLCHAIN
  bool branch_stack = false;          ///< PERF_SAMPLE_BRANCH_STACK
  std::uint64_t branch_filter = 0;    ///< PERF_SAMPLE_BRANCH_* of branches; 0: any branch
  int cpu = -1;                       ///< -1: any
  bool whole_cpu = false;             ///< all tasks on `cpu` (perf record -C), not this process

  /// A default period: a multiple of 16, so that IBS does not round it, and that all PMUs and
  /// clocks take.
  static constexpr std::uint64_t kAnyPeriod = 100'000;
};

/// The kernel opens the event; other answers are the errno of perf_event_open(2) or one of these.
inline constexpr int kAccepted = 0;
/// The event was opened and counted, and no sample came.
inline constexpr int kNoSamples = -1;

/// Opens the event for sampling, lets this process cause some events while it is enabled, and
/// closes it. A breakpoint watches memory of this program and never fires. The process runs on
/// `attempt.cpu` meanwhile, if allowed.
int try_event(const EventAttempt& attempt);

/// A function that answers like `try_event`: this kernel, or that of a test.
using EventTrial = std::function<int(const EventAttempt&)>;

}  // namespace skid::machine
