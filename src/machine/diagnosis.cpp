#include "src/machine/diagnosis.h"

#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/machine/sampling_support.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

namespace skid::machine {
namespace {

Candidate built_in(std::string name, std::string pmu, const EventAttempt& attempt) {
  return {.event = {.name = std::move(name), .pmu = std::move(pmu), .built_in = true},
          .attempt = attempt,
          .ignores_levels = true};
}

bool is_permission(int error) {
  return error == EACCES || error == EPERM;
}

Acceptance acceptance_of(int answer, bool ignores_level) {
  if (answer == kNoSamples) return Acceptance::no_samples;
  if (answer != kAccepted) return Acceptance::refused;
  return ignores_level ? Acceptance::ignored : Acceptance::accepted;
}

/// "p, pp: IBS takes periods from 144; ppp: IBS has no such level"; a reason of all levels alone.
std::string remark_of(const std::vector<LevelAnswer>& answers) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const LevelAnswer& answer : answers) {
    if (answer.reason.what.empty()) continue;
    if (reasons.empty() || reasons.back().first != answer.reason.what) {
      reasons.push_back({answer.reason.what, {}});
    }
    reasons.back().second.push_back(level_name(answer.level));
  }
  if (reasons.size() == 1 && reasons.front().second.size() == answers.size()) {
    return reasons.front().first;
  }
  std::vector<std::string> parts;
  for (const auto& [what, levels] : reasons) {
    parts.push_back(fmt::format("{}: {}", fmt::join(levels, ", "), what));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

ExitStatus status_of(const SamplingSupport& support, const std::vector<SampledEvent>& events) {
  if (support.perf_missing) return ExitStatus::failed;
  ExitStatus status = ExitStatus::failed;
  for (const SampledEvent& event : events) {
    if (!event.usable()) continue;
    if (!event.built_in) return ExitStatus::done;
    status = ExitStatus::builtin_events_only;
  }
  return status;
}

}  // namespace

SampledBy sampled_by(std::uint32_t type) {
  if (type == PERF_TYPE_BREAKPOINT) return SampledBy::breakpoint;
  const bool by_kernel = type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT;
  return by_kernel ? SampledBy::kernel : SampledBy::pmu;
}

Reason why_no_samples(const CpuIdentity& cpu, SampledBy sampled_by, int level,
                      std::optional<double> expected) {
  if (expected && *expected < 1) {
    return {"the run was shorter than the period", "record longer, or with a smaller -c"};
  }
  if (sampled_by == SampledBy::breakpoint && expected) {
    return {"accepted, but no breakpoint fires: the debug registers of this machine do nothing",
            cpu.hypervisor ? "record on bare metal, or under another hypervisor"
                           : "record on another machine"};
  }
  const bool is_pebs = sampled_by == SampledBy::pmu && level > 0;
  if (is_pebs && cpu.hypervisor == "KVM" && cpu.vendor == "GenuineIntel") {
    return {
        "accepted, and no samples came: KVM may have dropped them, as it does while the host "
        "itself uses PEBS",
        "end perf on the host, or record on the host"};
  }
  return {"accepted, and no samples came", {}};
}

Reason why_not_filtered(const Machine& machine) {
  constexpr const char* kWithKernel =
      "record without :u, which takes kernel.perf_event_paranoid 1 or lower, or root";
  if (machine.ibs_op && machine.ibs_op->swfilt) {
    return {"IBS leaves the kernel out only with swfilt, a term of ibs_op",
            fmt::format("-e ibs_op/swfilt=1/u, for r0c1 -e ibs_op/cnt_ctl=1,swfilt=1/u; or {}",
                        kWithKernel)};
  }
  return {"IBS cannot leave the kernel out before Linux 6.14", kWithKernel};
}

/// Filters of perf record -j: branch_modes in tools/perf/util/parse-branch-options.c. Those that
/// only limit or extend others are asked for with `any`.
constexpr std::pair<const char*, std::uint64_t> kBranchFilters[] = {
    {"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
    {"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
    {"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
    {"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
    {"cond", PERF_SAMPLE_BRANCH_COND},
    {"call", PERF_SAMPLE_BRANCH_CALL},
    {"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
    {"abort_tx", PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_ABORT_TX},
    {"in_tx", PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_IN_TX},
    {"no_tx", PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_TX},
    {"save_type", PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE}};

std::vector<Candidate> built_in_candidates() {
  return {
      built_in("access", "breakpoint",
               {.type = PERF_TYPE_BREAKPOINT, .breakpoint = HW_BREAKPOINT_RW}),
      built_in("execute", "breakpoint",
               {.type = PERF_TYPE_BREAKPOINT, .breakpoint = HW_BREAKPOINT_X}),
      built_in("faults", "software",
               {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS}),
      built_in("cpu-clock", "software",
               {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK}),
  };
}

SampledEvent ask(const Candidate& candidate, const EventTrial& trial, const Explain& explain) {
  SampledEvent event = candidate.event;
  EventAttempt attempt = candidate.attempt;
  event.modes = SampledModes::user_and_kernel;
  int at_level_0 = trial(attempt);
  if (!attempt.user_only && is_permission(at_level_0)) {
    attempt.user_only = true;
    at_level_0 = trial(attempt);
  }
  if (attempt.user_only) event.modes = SampledModes::user;
  for (const int level : levels_up_to(kHighestLevel)) {
    attempt.precise_ip = level;
    LevelAnswer answer{.level = level};
    const int error = level == 0 ? at_level_0 : trial(attempt);
    answer.acceptance = acceptance_of(error, candidate.ignores_levels && level > 0);
    if (error != kAccepted) answer.reason = explain(attempt, error);
    if (answer.acceptance == Acceptance::refused) answer.error = error;
    if (error == EINVAL && attempt.cpu >= 0 && !attempt.whole_cpu) {
      EventAttempt of_cpu = attempt;
      of_cpu.whole_cpu = true;
      if (trial(of_cpu) == kAccepted) answer.acceptance = Acceptance::per_cpu;
    }
    const bool usable = answer.acceptance == Acceptance::accepted ||
                        answer.acceptance == Acceptance::per_cpu ||
                        (answer.acceptance == Acceptance::ignored && event.built_in);
    if (usable) event.levels.push_back(level);
    event.answers.push_back(std::move(answer));
  }
  event.remark = remark_of(event.answers);
  const auto is_refused = [](Acceptance one) { return one == Acceptance::refused; };
  if (std::ranges::all_of(event.answers, is_refused, &LevelAnswer::acceptance)) {
    event.refusal = event.answers.front().error;
    event.modes = SampledModes::none;
  }
  return event;
}

/// Asks which filters of perf record -j an event of `candidate` takes that is usable as `event`.
std::map<std::string, bool> ask_filters(const Candidate& candidate, const SampledEvent& event,
                                        const EventTrial& trial) {
  EventAttempt attempt = candidate.attempt;
  const int level = event.levels.front();
  attempt.precise_ip = level;
  attempt.user_only = event.modes == SampledModes::user;
  attempt.whole_cpu =
      event.answers.at(static_cast<std::size_t>(level)).acceptance == Acceptance::per_cpu;
  std::map<std::string, bool> filters;
  for (const auto& [name, filter] : kBranchFilters) {
    attempt.branch_filter = filter;
    const int answer = trial(attempt);
    filters[name] = answer == kAccepted || answer == kNoSamples;
  }
  return filters;
}

Diagnosis diagnose(const SamplingSupport& support, const Candidates& candidates,
                   const EventTrial& trial, const Explain& explain) {
  Diagnosis diagnosis;
  for (const Candidate& candidate : candidates.events) {
    diagnosis.events.push_back(ask(candidate, trial, explain));
  }
  for (const Candidate& candidate : candidates.branch_records) {
    SampledEvent event = ask(candidate, trial, explain);
    if (event.usable() || !diagnosis.branch_records) diagnosis.branch_records = std::move(event);
    if (!diagnosis.branch_records->usable()) continue;
    diagnosis.branch_filters = ask_filters(candidate, *diagnosis.branch_records, trial);
    break;
  }
  diagnosis.problems = find_problems(support, diagnosis.events);
  diagnosis.status = status_of(support, diagnosis.events);
  return diagnosis;
}

}  // namespace skid::machine
