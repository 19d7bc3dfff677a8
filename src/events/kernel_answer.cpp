#include "src/events/cpu.h"
#include "src/events/kernel_rules.h"
#include "src/events/perf_names.h"
#include "src/machine/answer_reason.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/event_attempt.h"
#include "src/machine/machine.h"
#include "src/machine/sampled_event.h"
#include "src/machine/sampling_support.h"
#include "src/machine/zen.h"
#include "src/support/error.h"
#include "src/support/since.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::events {
namespace {

using machine::EventAttempt;
using machine::Pmu;
using machine::SampledModes;
using machine::SamplingSupport;

struct Refusal {
  int error = 0;  ///< errno of perf_event_open(2)
  machine::Reason reason;
};

/// IBS became a PMU of tasks too with 30093056f7b2.
constexpr Since kIbsOfTasks{6, 2};
/// hsw_limit_period(), 25dfc9e357af.
constexpr Since kHaswellMinimum{6, 11};
/// perf_ibs_op.min_period, b2fc7b282bf7.
constexpr Since kIbsMinimum{6, 15};
/// IBS_CAPS_BIT63_FILTER, of Linux 7.2 or earlier.
constexpr Since kZenFilters{7, 2};
constexpr int kFilteringZen = 6;
/// Before 88ec7eedbbd2 the minimum period was compared with a frequency too.
constexpr Since kFrequencyIsNoPeriod{6, 14};

/// perf_allow_kernel() and, above 2, the rule of Debian's and Ubuntu's kernels, which close
/// everything to all but CAP_SYS_ADMIN.
SampledModes allowed_modes(const SamplingSupport& support) {
  const int paranoid = support.machine.perf_event_paranoid.value_or(0);
  if (support.rights.has_sys_admin()) return SampledModes::user_and_kernel;
  if (paranoid > 2) return SampledModes::none;
  if (support.rights.has_perfmon() || paranoid <= 1) return SampledModes::user_and_kernel;
  return SampledModes::user;
}

/// perf_allow_cpu(): all tasks of a CPU.
bool may_sample_cpus(const SamplingSupport& support) {
  return support.rights.may_sample_all() || support.machine.perf_event_paranoid.value_or(0) <= 0;
}

/// The core PMU of an event: by the extended type of a generic one, by its own type, else the one
/// that events without a PMU are on.
const Pmu* core_pmu_of(const SamplingSupport& support, const EventAttempt& attempt) {
  const bool generic = attempt.type == PERF_TYPE_HARDWARE;
  const std::uint64_t type = generic ? attempt.config >> 32U : attempt.type;
  const Pmu* first = nullptr;
  for (const Pmu& pmu : support.pmus) {
    if (!pmu.core) continue;
    if (pmu.type == type) return &pmu;
    if (first == nullptr || pmu.name == "cpu_core") first = &pmu;
  }
  return generic || attempt.type == PERF_TYPE_RAW ? first : nullptr;
}

/// The event's code; 0 where the kernel's driver has none.
std::uint64_t code_of(const EventAttempt& attempt, ConfigLayout layout) {
  return code_of(layout, attempt.type, attempt.config).value_or(0);
}

/// A row of a table of constraints: an event with one umask, or with any.
struct PebsRow {
  std::uint64_t code;
  bool any_umask = false;
};
// intel_{core2,nehalem,westmere}_pebs_event_constraints
constexpr std::array<PebsRow, 5> kCore2{{{0x00c0}, {0xfec1}, {0x00c5}, {0x1fc7}, {0xcb, true}}};
constexpr std::array<PebsRow, 11> kNehalem{{{0x100b},
                                            {0x0f, true},
                                            {0x010c},
                                            {0xc0, true},
                                            {0xc2, true},
                                            {0xc4, true},
                                            {0x02c5},
                                            {0xc7, true},
                                            {0x20c8},
                                            {0xcb, true},
                                            {0xf7, true}}};
constexpr PebsRow kWestmereMispredicted{0xc5, true};
/// intel_{icl,glc}_pebs_event_constraints. A guest without the baseline has no other.
constexpr std::array<PebsRow, 8> kBasic{{{0x01c0},
                                         {0x0100},
                                         {0x0400},
                                         {0xcd, true},
                                         {0xd0, true},
                                         {0xd1, true},
                                         {0xd2, true},
                                         {0xd3, true}}};

bool has_row(std::span<const PebsRow> rows, std::uint64_t code) {
  constexpr std::uint64_t kEvent = 0xff, kEventAndUmask = 0xffff;
  return std::ranges::any_of(rows, [code](const PebsRow& row) {
    return (code & (row.any_umask ? kEvent : kEventAndUmask)) == row.code;
  });
}

/// Whether a CPU whose tables list the only precise events refuses this one. Cycles are replaced
/// by an event of the table.
bool is_outside_pebs_table(const machine::CpuIdentity& cpu, std::uint64_t code) {
  constexpr std::uint64_t kCycles = 0x3c;
  if (code == kCycles) return false;
  const Core core = core_of(cpu);
  if (core == Core::core_2) return !has_row(kCore2, code);
  if (core == Core::nehalem) return !has_row(kNehalem, code);
  if (core == Core::westmere) {
    return !has_row(kNehalem, code) && !has_row({&kWestmereMispredicted, 1}, code);
  }
  return false;
}

std::optional<Refusal> period_refusal(const SamplingSupport& support, const EventAttempt& attempt,
                                      bool ibs) {
  const Since kernel = version_of(support.machine.kernel);
  if (attempt.frequency && (ibs || kernel >= kFrequencyIsNoPeriod)) return std::nullopt;
  const machine::CpuIdentity& cpu = support.machine.cpu;
  const auto code = code_of(attempt, ConfigLayout::intel);
  const auto rule = ibs ? kIbsPeriods : period_rule(cpu, code, attempt.precise_ip);
  if (!rule || !rule->refuses(attempt.period)) return std::nullopt;
  if (core_of(cpu) == Core::haswell && kernel < kHaswellMinimum) return std::nullopt;
  if (ibs && kernel < kIbsMinimum) return std::nullopt;
  if (attempt.frequency) {
    return Refusal{
        EINVAL,
        {fmt::format(
             "before Linux 6.14 a frequency below {}, the shortest period of {}, is refused",
             rule->least, rule->who),
         fmt::format("-F {}", rule->least)}};
  }
  return Refusal{EINVAL,
                 {fmt::format("{} takes periods from {}", rule->who, rule->least),
                  fmt::format("-c {}", rule->least)}};
}

Refusal no_branch_stack(const char* what) {
  return {EOPNOTSUPP,
          {fmt::format("{} records no branch stack", what), "record without -b and -j"}};
}

/// The refusal of branch records by a core PMU; nullopt: it has them. Zen 3 takes them with one
/// event and a fixed period (amd_brs_hw_config() in arch/x86/events/amd/brs.c).
std::optional<Refusal> branch_refusal(const SamplingSupport& support, const Pmu& pmu,
                                      const EventAttempt& attempt) {
  const auto branches = pmu.caps.find("branches");
  const machine::CpuIdentity& cpu = support.machine.cpu;
  if (branches == pmu.caps.end() || branches->second == "0") {
    Refusal refusal = no_branch_stack("this PMU (no caps/branches)");
    if (cpu.hypervisor) {
      refusal.reason.remedy =
          "record on the host or on bare metal; KVM gives Intel's guests branch records since "
          "Linux 5.12, with qemu's lbr-fmt";
    }
    return refusal;
  }
  constexpr int kBrs = 3;
  constexpr std::uint64_t kTakenBranches = 0xc4, kDepth = 16;
  if (machine::zen_generation(cpu) != kBrs) return std::nullopt;
  if (code_of(attempt, ConfigLayout::amd) != kTakenBranches) {
    return Refusal{EINVAL, {"Zen 3 records branches with r00c4 (branch-brs) only", "-e r00c4"}};
  }
  if (!attempt.frequency && attempt.period > kDepth) return std::nullopt;
  return Refusal{EINVAL, {"Zen 3 records branches with fixed periods above 16 only", "-c N"}};
}

std::optional<Refusal> intel_refusal(const SamplingSupport& support, const Pmu& pmu,
                                     const EventAttempt& attempt) {
  const int highest = pmu.max_precise().value_or(0);
  const int level = attempt.precise_ip;
  if (level > highest) {
    if (highest > 0) {
      return Refusal{EOPNOTSUPP, {fmt::format("caps/max_precise is {}", highest), {}}};
    }
    return Refusal{EOPNOTSUPP,
                   {"PEBS is not available (caps/max_precise)",
                    support.machine.cpu.hypervisor ? "record on bare metal" : ""}};
  }
  if (attempt.branch_stack) {
    if (auto refusal = branch_refusal(support, pmu, attempt)) return refusal;
  }
  if (auto refusal = period_refusal(support, attempt, false)) return refusal;
  if (level > 0 &&
      is_outside_pebs_table(support.machine.cpu, code_of(attempt, ConfigLayout::intel))) {
    return Refusal{EINVAL, {"not in this CPU's table of PEBS events", {}}};
  }
  return std::nullopt;
}

/// Cycles, and two raw events: perf_ibs_precise_event().
bool is_done_by_ibs(const EventAttempt& attempt) {
  constexpr std::uint64_t kCyclesNotInHalt = 0x76, kRetiredOperations = 0xc1;
  if (attempt.type == PERF_TYPE_HARDWARE) return attempt.config == PERF_COUNT_HW_CPU_CYCLES;
  return attempt.type == PERF_TYPE_RAW &&
         (attempt.config == kCyclesNotInHalt || attempt.config == kRetiredOperations);
}

/// perf_ibs_init(). Modes are left out by a term of ibs_op, which an event of the core PMU does not
/// have, or by the hardware.
std::optional<Refusal> ibs_refusal(const SamplingSupport& support, const EventAttempt& attempt) {
  const Since kernel = version_of(support.machine.kernel);
  const bool in_hardware =
      machine::zen_generation(support.machine.cpu) >= kFilteringZen && kernel >= kZenFilters;
  if (attempt.user_only && !in_hardware && (attempt.config2 & 1U) == 0) {
    return Refusal{EINVAL, machine::why_not_filtered(support.machine)};
  }
  if (attempt.branch_stack) return no_branch_stack("IBS");
  if (!attempt.whole_cpu && kernel < kIbsOfTasks) {
    return Refusal{EINVAL,
                   {"IBS samples CPUs, not tasks, before Linux 6.2",
                    "perf record -C N, which record does itself as root; or Linux 6.2"}};
  }
  return period_refusal(support, attempt, true);
}

std::optional<Refusal> amd_refusal(const SamplingSupport& support, const Pmu& pmu,
                                   const EventAttempt& attempt) {
  constexpr int kHighest = 2;
  if (attempt.precise_ip == 0) {
    return attempt.branch_stack ? branch_refusal(support, pmu, attempt) : std::nullopt;
  }
  if (machine::find_pmu(support.pmus, "ibs_op") == nullptr) {
    return Refusal{EOPNOTSUPP, {"ibs_op, which samples precise levels, does not exist", {}}};
  }
  if (attempt.precise_ip > kHighest) return Refusal{EOPNOTSUPP, {"IBS has no level 3", {}}};
  if (!is_done_by_ibs(attempt)) {
    return Refusal{EOPNOTSUPP, {"IBS takes cycles, r076 and r0c1 only", {}}};
  }
  return ibs_refusal(support, attempt);
}

std::optional<Refusal> permission_refusal(const SamplingSupport& support,
                                          const EventAttempt& attempt) {
  if (!support.machine.perf_event_paranoid) {
    return Refusal{ENOSYS, {"the kernel has no perf events", {}}};
  }
  const SampledModes modes = allowed_modes(support);
  const bool closed = modes == SampledModes::none ||
                      (modes == SampledModes::user && !attempt.user_only) ||
                      (attempt.whole_cpu && !may_sample_cpus(support));
  if (!closed) return std::nullopt;
  return Refusal{EACCES, {"not permitted", {}}};
}

/// The refusal to be expected on a machine; nullopt: the event is accepted. Sources:
/// kernel/events/core.c (permissions), arch/x86/events/core.c x86_pmu_hw_config() (levels, shortest
/// periods), arch/x86/events/intel/ds.c (constraint tables), arch/x86/events/amd/{core,ibs}.c,
/// drivers/perf/arm_pmu.c.
std::optional<Refusal> expected_refusal(const SamplingSupport& support,
                                        const EventAttempt& attempt) {
  const bool breakpoint = attempt.type == PERF_TYPE_BREAKPOINT;
  if (breakpoint || attempt.type == PERF_TYPE_SOFTWARE) {
    if (machine::find_pmu(support.pmus, breakpoint ? "breakpoint" : "software") == nullptr) {
      return Refusal{ENOENT, {"no PMU of that kind", {}}};
    }
    if (auto refusal = permission_refusal(support, attempt)) return refusal;
    if (attempt.branch_stack)
      return no_branch_stack(breakpoint ? "a breakpoint" : "the kernel's own event");
    return std::nullopt;
  }
  if (auto refusal = permission_refusal(support, attempt)) return refusal;
  if (support.machine.ibs_op && support.machine.ibs_op->type == attempt.type) {
    return ibs_refusal(support, attempt);
  }
  const Pmu* pmu = core_pmu_of(support, attempt);
  if (pmu == nullptr) return Refusal{ENOENT, {"no PMU of the CPU", {}}};
  if (machine::is_amd(support.machine.cpu)) return amd_refusal(support, *pmu, attempt);
  if (support.machine.cpu.vendor == "GenuineIntel") return intel_refusal(support, *pmu, attempt);
  return attempt.branch_stack ? branch_refusal(support, *pmu, attempt) : std::nullopt;
}

}  // namespace

machine::EventTrial simulated_kernel(const SamplingSupport& support) {
  return [&support](const EventAttempt& attempt) {
    if (const auto refusal = expected_refusal(support, attempt)) return refusal->error;
    const bool is_guest = support.machine.cpu.hypervisor.has_value();
    return attempt.type == PERF_TYPE_BREAKPOINT && is_guest ? machine::kUntried
                                                            : machine::kAccepted;
  };
}

machine::Explain explanation_on(const SamplingSupport& support) {
  return [&support](const EventAttempt& attempt, int answer) -> machine::Reason {
    const bool guest = support.machine.cpu.hypervisor.has_value();
    const bool intel = support.machine.cpu.vendor == "GenuineIntel";
    if (answer == machine::kUntried) {
      return {"some hypervisors pass no debug registers on, and only a try on the machine shows it",
              {}};
    }
    if (answer == machine::kNoSamples) {
      return machine::why_no_samples(support.machine.cpu, machine::sampled_by(attempt.type),
                                     attempt.precise_ip, 1);
    }
    const auto expected = expected_refusal(support, attempt);
    if (expected && expected->error == answer) return expected->reason;
    if (answer == EACCES || answer == EPERM) return {"not permitted", {}};
    if (answer == EINVAL && guest && intel && attempt.precise_ip > 0 &&
        !has_row(kBasic, code_of(attempt, ConfigLayout::intel))) {
      return {
          "refused; a guest with PEBS but without PERF_CAP_PEBS_BASELINE takes only instructions, "
          "loads and stores",
          "record on the host or on bare metal"};
    }
    return {describe_errno(answer), {}};
  };
}

}  // namespace skid::events
