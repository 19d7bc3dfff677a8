// What can be sampled on a machine, and what prevents it.
#pragma once

#include "src/machine/sampling_support.h"
#include "src/support/error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// In which modes of the CPU this process may sample an event.
enum class SampledModes { none, user, user_and_kernel };

/// "none", "user", "user and kernel".
std::string_view name_of(SampledModes modes);

/// An event as `record -e` takes it, and how it can be sampled.
struct SampledEvent {
  std::string name;         ///< "access", "cycles", "cpu_atom/cycles/"
  std::string pmu;          ///< whose event it is: "breakpoint", "cpu"
  bool built_in = false;    ///< needs no PMU of the CPU; its skid is known by construction
  std::vector<int> levels;  ///< precise levels at which it can be sampled, ascending
  SampledModes modes = SampledModes::none;
  std::string remark;  ///< what a level means for it, or why it is not usable; may be empty
  std::optional<int> refusal = {};  ///< errno of the kernel's refusal, where the event was tried

  bool usable() const noexcept { return !levels.empty(); }
};

struct Problem {
  std::string id;      ///< for scripts: "no_core_pmu"
  std::string what;    ///< a sentence without its full stop
  std::string remedy;  ///< a command to paste, or what to do if no command helps
};

struct Diagnosis {
  bool tried = false;  ///< the events were opened; otherwise the files are reported
  std::vector<SampledEvent> events;
  std::vector<Problem> problems;
  /// done: a PMU of the CPU can be sampled; builtin_events_only; failed: nothing can be.
  ExitStatus status = ExitStatus::failed;
};

/// Decides what can be sampled. With a trial, the promised levels are tried and the kernel's
/// answer counts; without one (files of another machine) the kernel's rules are applied to them.
Diagnosis diagnose(const SamplingSupport& support, const EventTrial& trial);

/// What prevents sampling, most important first. `events` as `diagnose` found them.
std::vector<Problem> find_problems(const SamplingSupport& support,
                                   const std::vector<SampledEvent>& events, bool tried);

}  // namespace skid::machine
