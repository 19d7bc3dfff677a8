#include "src/machine/diagnosis.h"

#include "src/support/file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
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
  if (!support.perf_missing.empty()) return ExitStatus::failed;
  ExitStatus status = ExitStatus::failed;
  for (const SampledEvent& event : events) {
    if (!event.usable()) continue;
    if (!event.built_in) return ExitStatus::done;
    status = ExitStatus::builtin_events_only;
  }
  return status;
}

}  // namespace

Reason why_no_samples(const CpuIdentity& cpu, int level) {
  if (cpu.hypervisor == "KVM" && cpu.vendor == "GenuineIntel" && level > 0) {
    return {
        "accepted, and no samples came: KVM may have dropped them, as it does while the host "
        "itself uses PEBS",
        "end perf on the host, or record on the host"};
  }
  return {"accepted, and no samples came", {}};
}

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

Diagnosis diagnose(const SamplingSupport& support, const std::vector<Candidate>& candidates,
                   const EventTrial& trial, const Explain& explain, bool tried) {
  Diagnosis diagnosis;
  diagnosis.tried = tried;
  for (const Candidate& candidate : candidates) {
    diagnosis.events.push_back(ask(candidate, trial, explain));
  }
  diagnosis.problems = find_problems(support, diagnosis.events, diagnosis.tried);
  diagnosis.status = status_of(support, diagnosis.events);
  return diagnosis;
}

}  // namespace skid::machine
