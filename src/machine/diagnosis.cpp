#include "src/machine/diagnosis.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

namespace skid::machine {

namespace {

/// An event before it is known whether the kernel takes it.
struct Candidate {
  SampledEvent event;  ///< `levels` are those that sysfs promises
  EventAttempt attempt;
  /// Precise levels from 1 are done by a unit that cannot leave the kernel out.
  bool precise_needs_kernel = false;
};

Candidate built_in(std::string name, std::string pmu, const EventAttempt& attempt) {
  return {.event = {.name = std::move(name),
                    .pmu = std::move(pmu),
                    .built_in = true,
                    .levels = levels_up_to(kHighestLevel),
                    .remark = "ignores levels"},
          .attempt = attempt};
}

std::vector<Candidate> built_in_events() {
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

struct GenericEvent {
  const char* name;         ///< alone
  const char* name_of_pmu;  ///< between the slashes of a PMU
  std::uint64_t config;     ///< perf_event_attr.config
  bool through_ibs;         ///< AMD's kernel gives it to IBS at levels 1 and 2
};

constexpr std::array kGenericEvents{
    GenericEvent{"cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, true},
    GenericEvent{"instructions", "instructions", PERF_COUNT_HW_INSTRUCTIONS, false},
    GenericEvent{"branches", "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, false},
};

void add_core_events(const SamplingSupport& support, const Pmu& pmu, bool one_of_several,
                     std::vector<Candidate>& candidates) {
  const bool amd = is_amd(support.machine.cpu);
  const bool has_ibs = amd && find_pmu(support.pmus, "ibs_op") != nullptr;
  const auto add = [&](std::string name, const EventAttempt& attempt, bool through_ibs) {
    const bool ibs = has_ibs && through_ibs;
    const int highest = ibs ? 2 : amd ? 0 : pmu.max_precise().value_or(0);
    candidates.push_back({.event = {.name = std::move(name),
                                    .pmu = pmu.name,
                                    .levels = levels_up_to(highest),
                                    .remark = ibs ? "p and pp through ibs_op" : ""},
                          .attempt = attempt,
                          .precise_needs_kernel = ibs});
  };
  for (const GenericEvent& generic : kGenericEvents) {
    // "The extended type": the PMU in the upper half of config (perf_event.h,
    // PERF_PMU_TYPE_SHIFT).
    const std::uint64_t of_pmu = one_of_several ? std::uint64_t{pmu.type} << 32U : 0;
    add(one_of_several ? fmt::format("{}/{}/", pmu.name, generic.name_of_pmu) : generic.name,
        {.type = PERF_TYPE_HARDWARE, .config = of_pmu | generic.config}, generic.through_ibs);
  }
  if (!has_ibs) return;
  // Cycles not in halt and retired operations, AMD's other two events that IBS does.
  for (const std::uint64_t code : {0x76U, 0xc1U}) {
    add(fmt::format("r0{:x}", code), {.type = PERF_TYPE_RAW, .config = code}, true);
  }
}

std::vector<Candidate> candidates_of(const SamplingSupport& support) {
  std::vector<Candidate> candidates = built_in_events();
  const auto cores =
      std::count_if(support.pmus.begin(), support.pmus.end(), [](const Pmu& p) { return p.core; });
  for (const Pmu& pmu : support.pmus) {
    if (pmu.core) add_core_events(support, pmu, cores > 1, candidates);
  }
  return candidates;
}

/// What perf_event_paranoid and the capabilities allow: perf_allow_kernel() of the kernel, and
/// above 2 the rule of Debian's and Ubuntu's kernels, which close everything to all but
/// CAP_SYS_ADMIN.
SampledModes allowed_modes(const SamplingSupport& support) {
  const std::optional<int> paranoid = support.machine.perf_event_paranoid;
  if (!paranoid) return SampledModes::none;  // the kernel is built without perf events
  if (support.rights.has_sys_admin()) return SampledModes::user_and_kernel;
  if (*paranoid > 2) return SampledModes::none;
  if (support.rights.has_perfmon() || *paranoid <= 1) return SampledModes::user_and_kernel;
  return SampledModes::user;
}

SampledEvent judge_by_files(Candidate candidate, const SamplingSupport& support) {
  SampledEvent event = std::move(candidate.event);
  event.modes = allowed_modes(support);
  if (event.modes == SampledModes::none) event.remark = "not permitted";
  if (event.built_in && find_pmu(support.pmus, event.pmu) == nullptr) {
    event.modes = SampledModes::none;
    event.remark = "no PMU of that kind";
  }
  if (event.modes == SampledModes::none) event.levels.clear();
  if (candidate.precise_needs_kernel && event.modes == SampledModes::user) {
    event.levels = {0};
    event.remark = "IBS cannot leave the kernel out";
  }
  return event;
}

bool is_permission(int error) {
  return error == EACCES || error == EPERM;
}

SampledEvent judge_by_trial(Candidate candidate, const EventTrial& trial) {
  SampledEvent event = std::move(candidate.event);
  EventAttempt attempt = candidate.attempt;
  event.modes = SampledModes::user_and_kernel;
  int error = trial(attempt);
  if (is_permission(error)) {
    event.modes = SampledModes::user;
    attempt.user_only = true;
    error = trial(attempt);
  }
  if (error != 0) {
    event.modes = SampledModes::none;
    event.levels.clear();
    event.remark.clear();
    event.refusal = error;
    return event;
  }
  std::erase_if(event.levels, [&](int level) {
    attempt.precise_ip = level;
    return level > 0 && trial(attempt) != 0;
  });
  if (candidate.precise_needs_kernel && event.levels.size() == 1) {
    event.remark = "ibs_op refuses p and pp";
  }
  return event;
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

std::string_view name_of(SampledModes modes) {
  switch (modes) {
    case SampledModes::none:
      return "none";
    case SampledModes::user:
      return "user";
    case SampledModes::user_and_kernel:
      return "user and kernel";
  }
  return "none";
}

Diagnosis diagnose(const SamplingSupport& support, const EventTrial& trial) {
  Diagnosis diagnosis;
  diagnosis.tried = static_cast<bool>(trial);
  for (Candidate& candidate : candidates_of(support)) {
    diagnosis.events.push_back(trial ? judge_by_trial(std::move(candidate), trial)
                                     : judge_by_files(std::move(candidate), support));
  }
  diagnosis.problems = find_problems(support, diagnosis.events, diagnosis.tried);
  diagnosis.status = status_of(support, diagnosis.events);
  return diagnosis;
}

}  // namespace skid::machine
