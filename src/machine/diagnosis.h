// What can be sampled on a machine, and what prevents it.
#pragma once

#include "src/machine/answer_reason.h"
#include "src/machine/event_attempt.h"
#include "src/machine/sampled_event.h"
#include "src/support/error.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skid::machine {

struct SamplingSupport;

/// Commands that give a missing permission. The first one needs to run as root on the host.
inline constexpr const char* kOpenSampling = "sysctl kernel.perf_event_paranoid=1";
inline constexpr const char* kOpenContainer =
    "docker run --cap-add PERFMON --security-opt seccomp=unconfined IMAGE";

/// A cause that prevents sampling, and its remedy.
struct Problem {
  std::string id;      ///< name for scripts: "no_core_pmu"
  std::string what;    ///< a sentence without its full stop
  std::string remedy;  ///< a command to paste, or what to do if no command helps
};

/// What can be sampled on a machine, and the problems found.
struct Diagnosis {
  std::vector<SampledEvent> events;
  /// The event of the CPU to sample with branch records (perf record -b), or the refused one;
  /// nullopt without a PMU of the CPU.
  std::optional<SampledEvent> branch_records;
  /// Whether the kernel takes each filter of perf record -j, by the filter's name; without `any`
  /// and the modes. Empty if no branch records can be sampled.
  std::map<std::string, bool> branch_filters;
  std::vector<Problem> problems;
  /// done: a PMU of the CPU can be sampled; builtin_events_only; failed: nothing can be.
  ExitStatus status = ExitStatus::failed;
};

/// The events to try on the kernel.
struct Candidates {
  std::vector<Candidate> events;
  std::vector<Candidate> branch_records;  ///< with branch stacks; the first one taken is reported
};

/// Decides what can be sampled by asking for each candidate.
Diagnosis diagnose(const SamplingSupport& support, const Candidates& candidates,
                   const EventTrial& trial, const Explain& explain);

/// Lists what prevents sampling, most important first. `events` are those of `diagnose`.
std::vector<Problem> find_problems(const SamplingSupport& support,
                                   const std::vector<SampledEvent>& events);

}  // namespace skid::machine
