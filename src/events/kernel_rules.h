// How Linux silently changes a requested event
// (arch/x86/events/intel/core.c, arch/x86/events/amd/ibs.c).
#pragma once

#include "src/machine/machine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::events {

/// The event that a core PMU of Intel counts instead of cycles at a precise level: an event that
/// can be precise, inverted so that it counts the cycles in which it happens less often than never.
/// Empty: cycles are counted, or it is unknown. `level`: precise_ip.
std::string_view counted_for_cycles(const machine::CpuIdentity& cpu, int level);

/// Periods that an event can have. The kernel refuses shorter ones (-EINVAL, x86_pmu_hw_config() in
/// arch/x86/events/core.c, perf_ibs_init()). IBS clears the low four bits of a period;
/// perf_ibs_init() has a check for them that never applies (removed in 88c7bcad71c8).
struct PeriodRule {
  std::uint64_t least = 1;
  std::uint64_t multiple_of = 1;  ///< longer ones are silently rounded down to a multiple
  std::string_view who;           ///< "IBS"

  bool refuses(std::uint64_t period) const noexcept { return period < least; }
  bool takes(std::uint64_t period) const noexcept {
    return period >= least && period % multiple_of == 0;
  }
};

/// An event of a core PMU as its rule depends on it.
struct RuledEvent {
  std::uint64_t config = 0;  ///< perf_event_attr.config of a raw event
  int level = 0;             ///< precise_ip
  bool ibs = false;          ///< an event of ibs_op, or one that the kernel hands to it
};

/// The restriction of an event's periods; nullopt: none is known. Haswell: kernels from Linux 6.11
/// on (hsw_limit_period()), IBS op: from 6.15 on (b2fc7b282bf7). Older kernels take any period.
std::optional<PeriodRule> period_rule(const machine::CpuIdentity& cpu, const RuledEvent& event);

/// Whether the CPU writes many PEBS records of an event before it interrupts (auto-reload with
/// large PEBS): with a fixed period, and fields in the samples that the record has
/// (intel_pmu_large_pebs_flags() in arch/x86/events/intel/core.c, LARGE_PEBS_FLAGS in
/// arch/x86/events/perf_event.h, intel_ds_init()). Otherwise there is an interrupt per record.
/// nullopt: not known of this CPU or kernel. `sample_type`: of perf_event_attr.
std::optional<bool> batches_pebs_records(const machine::CpuIdentity& cpu, bool frequency,
                                         std::uint64_t sample_type);

}  // namespace skid::events
