// AMD's events by perf's names (amd/README.md), and which of them are precise.
#pragma once

#include "src/events/event.h"

#include <string_view>
#include <vector>

namespace skid::events {

/// The core events of a Zen, by the name that libpfm4 has or would have for its PMU
/// ("amd64_fam19h_zen4"). Empty for others.
std::vector<Event> amd_events(std::string_view pmu);

/// Sets what is precise of a Zen: the kernel hands cycles and micro-ops (codes 0x76 and 0xc1) to
/// IBS and refuses a level of all others (core_pmu_ibs_config() in arch/x86/events/amd/ibs.c).
void set_precision_by_ibs(std::vector<Event>& events);

}  // namespace skid::events
