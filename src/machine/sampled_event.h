// How an event can be sampled on a machine: the precise levels and CPU modes that the kernel takes.
#pragma once

#include "src/machine/answer_reason.h"
#include "src/machine/event_attempt.h"
#include "src/support/names.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace skid::machine {

/// The outcome of an event at a level.
enum class Acceptance {
  accepted,
  ignored,     ///< accepted; the level changes nothing
  per_cpu,     ///< refused for a task, accepted for all tasks of a CPU: perf record -C
  no_samples,  ///< accepted, and no samples came
  refused,
};
SKID_NAMES(Acceptance, "accepted", "ignored", "per CPU", "no samples", "refused")

/// The outcome of an event at one precise level.
struct LevelAnswer {
  int level = 0;
  Acceptance acceptance = Acceptance::accepted;
  int error = 0;       ///< errno of the refusal; for `per_cpu` that for the task
  Reason reason = {};  ///< empty where the event is accepted
};

/// Whether an event is accepted, and has no sample at any level. `answers` are for the levels
/// from 0 up; none: the kernel was not asked.
inline bool is_never_sampled(const std::vector<LevelAnswer>& answers) {
  return !answers.empty() && std::ranges::all_of(answers, [](const LevelAnswer& answer) {
    return answer.acceptance == Acceptance::no_samples;
  });
}

/// The CPU modes in which this process may sample an event.
enum class SampledModes { none, user, user_and_kernel };
SKID_NAMES(SampledModes, "none", "user", "user and kernel")

/// An event as `record -e` takes it, and how it can be sampled.
struct SampledEvent {
  std::string name;              ///< "access", "cycles", "cpu_atom/cycles/"
  std::string pmu;               ///< PMU of the event: "breakpoint", "cpu"
  bool built_in = false;         ///< true if it needs no PMU and its skid is known by construction
  std::vector<int> levels = {};  ///< precise levels at which it can be sampled, ascending
  SampledModes modes = SampledModes::none;
  std::string remark = {};                ///< why levels are not usable; may be empty
  std::optional<int> refusal = {};        ///< errno of the refusal at every level
  std::vector<LevelAnswer> answers = {};  ///< answers for the levels 0 to 3

  bool usable() const noexcept { return !levels.empty(); }
};

/// An event to ask the kernel for.
struct Candidate {
  SampledEvent event;  ///< name, pmu, built_in
  EventAttempt attempt;
  bool ignores_levels = false;  ///< true if its driver ignores levels, by its source
};

/// Lists access, execute, faults and cpu-clock.
std::vector<Candidate> built_in_candidates();

/// Asks for the event at every level, in user mode only where the kernel may not be sampled, and
/// for all of its CPU where a task is refused with EINVAL.
SampledEvent ask(const Candidate& candidate, const EventTrial& trial, const Explain& explain);

}  // namespace skid::machine
