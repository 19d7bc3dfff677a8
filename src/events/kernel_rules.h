// What Linux makes of a requested event and of the records of a CPU (arch/x86/events/intel/core.c,
// arch/x86/events/amd/ibs.c).
#pragma once

#include "src/support/precise_level.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace skid::machine {
struct CpuIdentity;
struct Machine;
}  // namespace skid::machine

namespace skid::perfdata {
struct Attribute;
}  // namespace skid::perfdata

namespace skid::events {

struct Event;

/// Whether PERF_RECORD_MISC_EXACT_IP is evidence, for an event of a core PMU, or of IBS. `ibs`: the
/// event is one of ibs_op or ibs_fetch, or one that the kernel hands to them. `unknown` for CPUs
/// that the table does not have.
ExactIp exact_ip_of(const machine::CpuIdentity& cpu, bool ibs);

/// Returns what precise level 3 (:ppp) of an event adds to level 2. The sources are the kernel
/// (arch/x86/events/core.c, x86_pmu_max_precise(): pebs_prec_dist; arch/x86/events/intel/core.c:
/// intel_pebs_aliases_precdist(), fixed0_constraint and the comments of intel_pmu_init();
/// arch/x86/events/amd/ibs.c; drivers/perf/arm_pmu.c) and, where event files have it, PDISTCounter.
LevelThree level_3_of(const Event& event);

/// Whether an event has precise distribution at level 3, where it may be the same as level 2:
/// INST_RETIRED.PREC_DIST is on one counter, which has it, at both levels.
bool has_precise_distribution(const Event& event);

/// Returns the number of events from the one that overflows the counter to the one that a PEBS
/// record is of, where nothing delays the record: 1, because the overflow arms the counter and the
/// next event is recorded, or 0 on counters with precise distribution (PDist), whose record is of
/// the instruction that causes the overflow (SDM volume 3B, "Processor Event Based Sampling",
/// "Precise Distribution (PDist)" and "Reduced Skid PEBS"). nullopt if it is not known: the event
/// may be on a counter of either kind, or on one with PDIR or a reduced skid. `level`: precise_ip,
/// 1 to 3.
std::optional<std::uint64_t> events_to_record(const Event& event, int level);

/// Returns the event that a core PMU of Intel counts instead of cycles at a precise level: an event
/// that can be precise, inverted so that it counts the cycles in which it happens less often than
/// never. Empty: cycles are counted, or the event is unknown. `level`: precise_ip.
std::string_view counted_for_cycles(const machine::CpuIdentity& cpu, int level);

/// Periods that an event can have. The kernel refuses shorter ones (-EINVAL, x86_pmu_hw_config() in
/// arch/x86/events/core.c, perf_ibs_init()). IBS clears the low four bits of a period;
/// perf_ibs_init() has a check for them that never applies (removed in 88c7bcad71c8).
struct PeriodRule {
  std::uint64_t least = 1;
  std::uint64_t multiple_of = 1;  ///< step of longer periods, which are silently rounded down
  std::string_view who;           ///< name for messages: "IBS"

  bool refuses(std::uint64_t period) const noexcept { return period < least; }
  bool takes(std::uint64_t period) const noexcept {
    return period >= least && period % multiple_of == 0;
  }
};

/// Terms of ibs_op in perf_event_attr.config: cnt_ctl, which counts operations and not cycles, and
/// l3missonly (IBS_OP_CNT_CTL, IBS_OP_L3MISSONLY in arch/x86/include/asm/perf_event.h).
inline constexpr std::uint64_t kIbsOpCntCtl = std::uint64_t{1} << 19U,
                               kIbsOpL3MissOnly = std::uint64_t{1} << 16U;

/// The periods of ibs_op, and of events that the kernel hands to it, from Linux 6.15 on
/// (b2fc7b282bf7). Older kernels take any period.
inline constexpr PeriodRule kIbsPeriods{.least = 144, .multiple_of = 16, .who = "IBS"};

/// Returns the restriction of the periods of a core PMU's event; nullopt: none is known. Haswell:
/// kernels from Linux 6.11 on (hsw_limit_period()); older ones take any period. `code`: from
/// code_of(). `level`: precise_ip.
std::optional<PeriodRule> period_rule(const machine::CpuIdentity& cpu, std::uint64_t code,
                                      int level);

/// Whether the CPU writes many PEBS records of an event before it interrupts (auto-reload with
/// large PEBS): with a fixed period, and fields in the samples that the record has, by CPU and
/// kernel (intel_pmu_hw_config() and intel_pmu_large_pebs_flags() in arch/x86/events/intel/core.c,
/// LARGE_PEBS_FLAGS in arch/x86/events/perf_event.h, intel_ds_pebs_init()). Otherwise there is an
/// interrupt per record. nullopt: not known, or the records are not in samples (aux_output).
std::optional<bool> batches_pebs_records(const machine::Machine& machine,
                                         const perfdata::Attribute& attribute);

}  // namespace skid::events
