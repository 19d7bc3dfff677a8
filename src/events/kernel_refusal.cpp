#include "src/events/kernel_refusal.h"

#include "src/events/cpu.h"
#include "src/events/kernel_rules.h"
#include "src/events/perf_names.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/event_attempt.h"
#include "src/machine/machine.h"
#include "src/machine/sampling_support.h"
#include "src/machine/zen.h"
#include "src/support/error.h"
#include "src/support/since.h"
#include "src/support/text.h"

#include <array>
#include <cerrno>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::events {
namespace {

using machine::EventAttempt;
using machine::Pmu;
using machine::Reason;
using machine::SamplingSupport;

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

/// Whether intel_{icl,glc}_pebs_event_constraints list an event. A guest without the baseline takes
/// no other at a precise level.
bool needs_no_baseline(std::uint64_t code) {
  constexpr std::array<std::uint64_t, 3> kCodes{0x01c0, 0x0100, 0x0400};
  constexpr std::array<std::uint64_t, 5> kOfAnyUmask{0xcd, 0xd0, 0xd1, 0xd2, 0xd3};
  return contains(kCodes, code & 0xffffU) || contains(kOfAnyUmask, code & 0xffU);
}

/// Whether the only precise events of a CPU are those of a table
/// (intel_{core2,nehalem,westmere}_pebs_event_constraints).
bool has_pebs_table(const machine::CpuIdentity& cpu) {
  const Core core = core_of(cpu);
  return core == Core::core_2 || core == Core::nehalem || core == Core::westmere;
}

std::optional<Reason> period_reason(const SamplingSupport& support, const EventAttempt& attempt,
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
    return Reason{fmt::format("before Linux 6.14 a frequency below {}, the shortest period of {}, "
                              "is refused",
                              rule->least, rule->who),
                  fmt::format("-F {}", rule->least)};
  }
  return Reason{fmt::format("{} takes periods from {}", rule->who, rule->least),
                fmt::format("-c {}", rule->least)};
}

Reason no_branch_stack(const char* what) {
  return {fmt::format("{} records no branch stack", what), "record without -b and -j"};
}

/// Why a core PMU refuses branch records. Zen 3 takes them with one event and a fixed period
/// (amd_brs_hw_config() in arch/x86/events/amd/brs.c).
std::optional<Reason> branch_reason(const SamplingSupport& support, const Pmu& pmu,
                                    const EventAttempt& attempt, int error) {
  const auto branches = pmu.caps.find("branches");
  const machine::CpuIdentity& cpu = support.machine.cpu;
  if (branches == pmu.caps.end() || branches->second == "0") {
    if (error != EOPNOTSUPP) return std::nullopt;
    Reason reason = no_branch_stack("this PMU (no caps/branches)");
    if (cpu.hypervisor) {
      reason.remedy =
          "record on the host or on bare metal; KVM gives Intel's guests branch records since "
          "Linux 5.12, with qemu's lbr-fmt";
    }
    return reason;
  }
  constexpr int kBrs = 3;
  constexpr std::uint64_t kTakenBranches = 0xc4;
  if (error != EINVAL || machine::zen_generation(cpu) != kBrs) return std::nullopt;
  if (code_of(attempt, ConfigLayout::amd) != kTakenBranches) {
    return Reason{"Zen 3 records branches with r00c4 (branch-brs) only", "-e r00c4"};
  }
  return Reason{"Zen 3 records branches with fixed periods above 16 only", "-c N"};
}

std::optional<Reason> intel_reason(const SamplingSupport& support, const Pmu& pmu,
                                   const EventAttempt& attempt, int error) {
  const int highest = pmu.max_precise().value_or(0);
  const bool is_guest = support.machine.cpu.hypervisor.has_value();
  if (error == EOPNOTSUPP && attempt.precise_ip > highest) {
    if (highest > 0) return Reason{fmt::format("caps/max_precise is {}", highest), {}};
    return Reason{"PEBS is not available (caps/max_precise)",
                  is_guest ? "record on bare metal" : ""};
  }
  if (attempt.branch_stack) {
    if (auto reason = branch_reason(support, pmu, attempt, error)) return reason;
  }
  if (error != EINVAL) return std::nullopt;
  if (auto reason = period_reason(support, attempt, false)) return reason;
  if (attempt.precise_ip == 0) return std::nullopt;
  if (has_pebs_table(support.machine.cpu)) {
    return Reason{"not in this CPU's table of PEBS events", {}};
  }
  if (is_guest && !needs_no_baseline(code_of(attempt, ConfigLayout::intel))) {
    return Reason{
        "refused; a guest with PEBS but without PERF_CAP_PEBS_BASELINE takes only instructions, "
        "loads and stores",
        "record on the host or on bare metal"};
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
std::optional<Reason> ibs_reason(const SamplingSupport& support, const EventAttempt& attempt,
                                 int error) {
  if (error == EOPNOTSUPP && attempt.branch_stack) return no_branch_stack("IBS");
  if (error != EINVAL) return std::nullopt;
  const Since kernel = version_of(support.machine.kernel);
  const bool in_hardware =
      machine::zen_generation(support.machine.cpu) >= kFilteringZen && kernel >= kZenFilters;
  if (attempt.user_only && !in_hardware && (attempt.config2 & 1U) == 0) {
    return machine::why_not_filtered(support.machine);
  }
  if (!attempt.whole_cpu && kernel < kIbsOfTasks) {
    return Reason{"IBS samples CPUs, not tasks, before Linux 6.2",
                  "perf record -C N, which record does itself as root; or Linux 6.2"};
  }
  return period_reason(support, attempt, true);
}

std::optional<Reason> amd_reason(const SamplingSupport& support, const Pmu& pmu,
                                 const EventAttempt& attempt, int error) {
  constexpr int kHighest = 2;
  if (attempt.precise_ip == 0) {
    return attempt.branch_stack ? branch_reason(support, pmu, attempt, error) : std::nullopt;
  }
  if (error == EOPNOTSUPP) {
    if (machine::find_pmu(support.pmus, "ibs_op") == nullptr) {
      return Reason{"ibs_op, which samples precise levels, does not exist", {}};
    }
    if (attempt.precise_ip > kHighest) return Reason{"IBS has no level 3", {}};
    if (!is_done_by_ibs(attempt)) return Reason{"IBS takes cycles, r076 and r0c1 only", {}};
  }
  return ibs_reason(support, attempt, error);
}

/// Why an event is refused with an error; nullopt: not known.
std::optional<Reason> reason_of(const SamplingSupport& support, const EventAttempt& attempt,
                                int error) {
  if (error == EACCES || error == EPERM) return Reason{"not permitted", {}};
  if (error == ENOSYS) return Reason{"the kernel has no perf events", {}};
  const machine::SampledBy by = machine::sampled_by(attempt.type);
  if (by != machine::SampledBy::pmu) {
    if (error != EOPNOTSUPP || !attempt.branch_stack) return std::nullopt;
    return no_branch_stack(by == machine::SampledBy::breakpoint ? "a breakpoint"
                                                                : "the kernel's own event");
  }
  if (support.machine.ibs_op && support.machine.ibs_op->type == attempt.type) {
    return ibs_reason(support, attempt, error);
  }
  const Pmu* pmu = core_pmu_of(support, attempt);
  if (pmu == nullptr) return std::nullopt;
  const machine::CpuIdentity& cpu = support.machine.cpu;
  if (machine::is_amd(cpu)) return amd_reason(support, *pmu, attempt, error);
  if (cpu.vendor == "GenuineIntel") return intel_reason(support, *pmu, attempt, error);
  return attempt.branch_stack ? branch_reason(support, *pmu, attempt, error) : std::nullopt;
}

}  // namespace

machine::Explain explanation_on(const SamplingSupport& support) {
  return [&support](const EventAttempt& attempt, int answer) {
    if (answer == machine::kNoSamples) {
      return machine::why_no_samples(support.machine.cpu, machine::sampled_by(attempt.type),
                                     attempt.precise_ip, 1);
    }
    return reason_of(support, attempt, answer).value_or(Reason{describe_errno(answer), {}});
  };
}

}  // namespace skid::events
