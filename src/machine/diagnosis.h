// What can be sampled on a machine, and what prevents it.
#pragma once

#include "src/machine/sampling_support.h"
#include "src/support/error.h"
#include "src/support/names.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace skid::machine {

/// An event to sample, in the terms of perf_event_attr and perf_event_open(2).
struct EventAttempt {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint32_t breakpoint = 0;       ///< HW_BREAKPOINT_RW or HW_BREAKPOINT_X; 0: no breakpoint
  int precise_ip = 0;                 ///< 0 to 3
  bool user_only = false;             ///< exclude_kernel
  std::uint64_t period = kAnyPeriod;  ///< events per sample, or samples per second
  bool frequency = false;             ///< `period` is in samples per second
  bool call_graph = false;            ///< PERF_SAMPLE_CALLCHAIN
  bool branch_stack = false;          ///< PERF_SAMPLE_BRANCH_STACK, any branch
  int cpu = -1;                       ///< -1: any
  bool whole_cpu = false;             ///< all tasks on `cpu` (perf record -C), not this process

  /// A period that is a multiple of 16, so that IBS does not round it, and that all PMUs and clocks
  /// take.
  static constexpr std::uint64_t kAnyPeriod = 100'000;
};

/// An answer of the kernel: the errno of perf_event_open(2), or one of these.
inline constexpr int kAccepted = 0;
inline constexpr int kNoSamples = -1;  ///< opened; the event was counted, and no sample came
inline constexpr int kUntried = -2;    ///< would be opened; whether samples come, only a try shows

/// Opens the event for sampling, lets this process cause some events while it is enabled, and
/// closes it. A breakpoint watches memory of this program and never fires. The process runs on
/// `attempt.cpu` meanwhile, where it may.
int try_event(const EventAttempt& attempt);

/// Answers as `try_event` does: the kernel here, or one that is simulated from its source.
using EventTrial = std::function<int(const EventAttempt&)>;

/// Why the kernel gives an answer.
struct Reason {
  std::string what;    ///< a clause: "IBS takes periods from 144"
  std::string remedy;  ///< empty: none is known
};
/// "IBS takes periods from 144; use a longer period": the reason and its remedy.
inline std::string text_of(const Reason& reason) {
  return reason.remedy.empty() ? reason.what : reason.what + "; " + reason.remedy;
}
/// What takes the samples of an event.
enum class SampledBy { pmu, breakpoint, kernel };
/// By perf_event_attr.type.
SampledBy sampled_by(std::uint32_t type);
/// The reason why an event was accepted and counted, or recorded, but has no sample. `level`:
/// precise_ip, which matters for events of a PMU only. `expected`: samples that its causes should
/// have given; nullopt: not known.
Reason why_no_samples(const CpuIdentity& cpu, SampledBy sampled_by, int level,
                      std::optional<double> expected);
using Explain = std::function<Reason(const EventAttempt&, int answer)>;

/// The outcome of an event at a level.
enum class Acceptance {
  accepted,
  ignored,     ///< accepted; the level changes nothing
  per_cpu,     ///< refused for a task, accepted for all tasks of a CPU: perf record -C
  no_samples,  ///< accepted, and no samples came
  untried,     ///< accepted; whether samples come is not known
  refused,
};
SKID_NAMES(Acceptance, "accepted", "ignored", "per CPU", "no samples", "untried", "refused")

struct LevelAnswer {
  int level = 0;
  Acceptance acceptance = Acceptance::accepted;
  int error = 0;       ///< errno of the refusal; of `per_cpu` that of the task
  Reason reason = {};  ///< empty where the event is accepted
};

/// Whether an event is accepted, and has no sample at any level. `answers`: of the levels from 0
/// up; none: the kernel was not asked.
inline bool is_never_sampled(const std::vector<LevelAnswer>& answers) {
  return !answers.empty() && std::ranges::all_of(answers, [](const LevelAnswer& answer) {
    return answer.acceptance == Acceptance::no_samples;
  });
}

/// In which modes of the CPU this process may sample an event.
enum class SampledModes { none, user, user_and_kernel };
SKID_NAMES(SampledModes, "none", "user", "user and kernel")

/// An event as `record -e` takes it, and how it can be sampled.
struct SampledEvent {
  std::string name;              ///< "access", "cycles", "cpu_atom/cycles/"
  std::string pmu;               ///< whose event it is: "breakpoint", "cpu"
  bool built_in = false;         ///< needs no PMU of the CPU; its skid is known by construction
  std::vector<int> levels = {};  ///< precise levels at which it can be sampled, ascending
  SampledModes modes = SampledModes::none;
  std::string remark = {};                ///< why levels are not usable; may be empty
  std::optional<int> refusal = {};        ///< errno of the refusal at every level
  std::vector<LevelAnswer> answers = {};  ///< of the levels 0 to 3

  bool usable() const noexcept { return !levels.empty(); }
};

/// An event to ask the kernel for.
struct Candidate {
  SampledEvent event;  ///< name, pmu, built_in
  EventAttempt attempt;
  bool ignores_levels = false;  ///< by the source of its driver
};

/// access, execute, faults and cpu-clock.
std::vector<Candidate> built_in_candidates();

/// Asks for the event at every level, in user mode only where the kernel may not be sampled, and
/// for all of its CPU where a task is refused with EINVAL.
SampledEvent ask(const Candidate& candidate, const EventTrial& trial, const Explain& explain);

/// Remedies of a missing permission, commands to paste. The first needs root, of the host.
inline constexpr const char* kOpenSampling = "sysctl kernel.perf_event_paranoid=1";
inline constexpr const char* kOpenContainer =
    "docker run --cap-add PERFMON --security-opt seccomp=unconfined IMAGE";

struct Problem {
  std::string id;      ///< for scripts: "no_core_pmu"
  std::string what;    ///< a sentence without its full stop
  std::string remedy;  ///< a command to paste, or what to do if no command helps
};

struct Diagnosis {
  bool tried = false;  ///< the events were opened; otherwise the kernel's answers are simulated
  std::vector<SampledEvent> events;
  std::vector<Problem> problems;
  /// done: a PMU of the CPU can be sampled; builtin_events_only; failed: nothing can be.
  ExitStatus status = ExitStatus::failed;
};

/// Decides what can be sampled by asking for each candidate. `tried`: `trial` is the kernel here.
Diagnosis diagnose(const SamplingSupport& support, const std::vector<Candidate>& candidates,
                   const EventTrial& trial, const Explain& explain, bool tried);

/// What prevents sampling, most important first. `events` as `diagnose` found them.
std::vector<Problem> find_problems(const SamplingSupport& support,
                                   const std::vector<SampledEvent>& events, bool tried);

}  // namespace skid::machine
