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

/// Periods that an event can have.
struct PeriodRule {
  std::uint64_t least = 1;
  std::uint64_t multiple_of = 1;
  std::string_view who;  ///< "IBS"

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

/// The rule that another period would be bent by. nullopt: none is known.
std::optional<PeriodRule> period_rule(const machine::CpuIdentity& cpu, const RuledEvent& event);

}  // namespace skid::events
