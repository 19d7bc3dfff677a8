#include "src/events/overrides.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::events {
namespace {

/// Flags that differ from Intel's published event files (keys PEBS and Precise), which decide.
/// Where Intel's own rows for a code contradict each other (Skylake r01c4), libpfm4's stays.
struct Precision {
  Core core;
  std::uint64_t config;
  bool precise;
};
constexpr std::array<Precision, 42> kPrecisions{{
    // Sapphire Rapids: MEM_LOAD_L3_MISS_RETIRED.*, MEM_LOAD_RETIRED.LOCAL_PMM,
    // RTM_RETIRED.ABORTED, INST_RETIRED.ANY_P, NOP, REP_ITERATION, MACRO_FUSED.
    {Core::sapphire_rapids, 0x01d3, true},
    {Core::sapphire_rapids, 0x02d3, true},
    {Core::sapphire_rapids, 0x04d3, true},
    {Core::sapphire_rapids, 0x08d3, true},
    {Core::sapphire_rapids, 0x10d3, true},
    {Core::sapphire_rapids, 0x80d1, true},
    {Core::sapphire_rapids, 0x04c9, true},
    {Core::sapphire_rapids, 0x00c0, true},
    {Core::sapphire_rapids, 0x02c0, true},
    {Core::sapphire_rapids, 0x08c0, true},
    {Core::sapphire_rapids, 0x10c0, true},
    // Ice Lake: INST_RETIRED.ANY, ANY_P, NOP, RTM_RETIRED.ABORTED.
    {Core::icelake, 0x0100, true},
    {Core::icelake, 0x00c0, true},
    {Core::icelake, 0x02c0, true},
    {Core::icelake, 0x04c9, true},
    // BR_INST_RETIRED.ALL_BRANCHES, FAR_BRANCH, NOT_TAKEN, BR_MISP_RETIRED.ALL_BRANCHES: the
    // precise ones are *.ALL_BRANCHES_PEBS at umask 4.
    {Core::ivy_bridge, 0x00c4, false},
    {Core::ivy_bridge, 0x40c4, false},
    {Core::ivy_bridge, 0x10c4, false},
    {Core::ivy_bridge, 0x00c5, false},
    {Core::haswell, 0x00c4, false},
    {Core::haswell, 0x40c4, false},
    {Core::haswell, 0x10c4, false},
    {Core::haswell, 0x00c5, false},
    {Core::broadwell, 0x00c4, false},
    {Core::broadwell, 0x40c4, false},
    {Core::broadwell, 0x10c4, false},
    {Core::broadwell, 0x00c5, false},
    {Core::skylake, 0x00c4, false},
    {Core::skylake, 0x10c4, false},
    {Core::skylake, 0x00c5, false},
    // MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM, INST_RETIRED.X87.
    {Core::ivy_bridge, 0x01d3, false},
    {Core::haswell, 0x02c0, false},
    // UOPS_RETIRED.STALL_CYCLES, TOTAL_CYCLES, CORE_STALL_CYCLES, RETIRE_SLOTS: counts of cycles,
    // which no instruction causes.
    {Core::ivy_bridge, 0x18001c2, false},
    {Core::ivy_bridge, 0xa8001c2, false},
    {Core::haswell, 0x18001c2, false},
    {Core::haswell, 0x1a001c2, false},
    {Core::haswell, 0xa8001c2, false},
    {Core::broadwell, 0x18001c2, false},
    {Core::broadwell, 0xa8001c2, false},
    {Core::skylake, 0x18002c2, false},
    {Core::skylake, 0xa8001c2, false},
    {Core::skylake, 0x02c2, false},
}};

constexpr std::string_view kManual = "manuals and libpfm4 4.13 give";
constexpr std::string_view kPfm = "libpfm4 4.13 gives";
constexpr std::string_view kLeavesOutModified = "it leaves out hits on modified lines";
constexpr std::string_view kIntelsFile = "Intel's event files have the one here";

/// Names whose code is wrong, with their aliases (L2_RQSTS.RFO_HIT, ARITH.INT_DIVIDER_ACTIVE).
struct Code {
  Core core;
  std::string_view name;
  std::uint64_t config;
  std::string_view who, reason;
};
constexpr std::array<Code, 12> kCodes{{
    {Core::haswell, "L2_RQSTS.DEMAND_DATA_RD_HIT", 0xc124, kManual, kLeavesOutModified},
    {Core::haswell, "L2_RQSTS.DEMAND_RFO_HIT", 0xc224, kManual, kLeavesOutModified},
    {Core::haswell, "L2_RQSTS.CODE_RD_HIT", 0xc424, kManual, kLeavesOutModified},
    {Core::broadwell, "L2_RQSTS.DEMAND_DATA_RD_HIT", 0xc124, kManual, kLeavesOutModified},
    {Core::broadwell, "L2_RQSTS.DEMAND_RFO_HIT", 0xc224, kManual, kLeavesOutModified},
    {Core::broadwell, "L2_RQSTS.CODE_RD_HIT", 0xc424, kManual, kLeavesOutModified},
    {Core::ivy_bridge, "MOVE_ELIMINATION.INT_ELIMINATED", 0x0158, kPfm, kIntelsFile},
    {Core::ivy_bridge, "MOVE_ELIMINATION.INT_NOT_ELIMINATED", 0x0458, kPfm, kIntelsFile},
    {Core::skylake, "UOPS_RETIRED.STALL_CYCLES", 0x18002c2, kPfm, kIntelsFile},
    {Core::icelake, "MEM_LOAD_MISC_RETIRED.UC", 0x04d4, kPfm, kIntelsFile},
    {Core::sapphire_rapids, "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x02cd, kPfm, kIntelsFile},
    {Core::sapphire_rapids, "ARITH.IDIV_ACTIVE", 0x10008b0, kPfm, kIntelsFile},
}};

/// Precise events that libpfm4 does not have.
struct Addition {
  Core core;
  std::string_view name;
  std::uint64_t config;
  std::string_view description;
};
constexpr std::string_view kAllBranches = "All retired branches, sampled precisely";
constexpr std::string_view kAllMispredicted =
    "All retired mispredicted branches, sampled precisely";
constexpr std::array<Addition, 10> kAdditions{{
    {Core::ivy_bridge, "BR_INST_RETIRED.ALL_BRANCHES_PEBS", 0x04c4, kAllBranches},
    {Core::haswell, "BR_INST_RETIRED.ALL_BRANCHES_PEBS", 0x04c4, kAllBranches},
    {Core::broadwell, "BR_INST_RETIRED.ALL_BRANCHES_PEBS", 0x04c4, kAllBranches},
    {Core::skylake, "BR_INST_RETIRED.ALL_BRANCHES_PEBS", 0x04c4, kAllBranches},
    {Core::ivy_bridge, "BR_MISP_RETIRED.ALL_BRANCHES_PEBS", 0x04c5, kAllMispredicted},
    {Core::haswell, "BR_MISP_RETIRED.ALL_BRANCHES_PEBS", 0x04c5, kAllMispredicted},
    {Core::broadwell, "BR_MISP_RETIRED.ALL_BRANCHES_PEBS", 0x04c5, kAllMispredicted},
    {Core::skylake, "BR_MISP_RETIRED.ALL_BRANCHES_PEBS", 0x04c5, kAllMispredicted},
    {Core::skylake, "INST_RETIRED.NOP", 0x02c0, "Retired NOP instructions"},
    {Core::icelake, "BR_MISP_RETIRED.RET", 0x08c5, "Retired mispredicted returns"},
}};

void correct_code(Core core, Event& event) {
  for (const Code& code : kCodes) {
    if (code.core != core || code.name != event.name || code.config == event.config) continue;
    event.manual_errors.push_back(
        fmt::format("{} r{:04x} for this name; {}", code.who, event.config, code.reason));
    event.config = code.config;
  }
}

void correct_precision(Core core, Event& event) {
  for (const Precision& known : kPrecisions) {
    if (known.core != core || known.config != event.config || known.precise == event.precise)
      continue;
    event.precise = known.precise;
    event.precise_source = "correction";
  }
}

}  // namespace

void apply_overrides(Core core, std::vector<Event>& events) {
  for (Event& event : events) {
    correct_code(core, event);
    if (event.config1 == 0) correct_precision(core, event);
  }
  for (const Addition& addition : kAdditions) {
    const bool listed = std::any_of(events.begin(), events.end(), [&addition](const Event& event) {
      return event.config == addition.config && event.config1 == 0;
    });
    if (addition.core != core || listed) continue;
    Event event;
    event.name = addition.name;
    event.description = addition.description;
    event.config = addition.config;
    event.precise = true;
    event.precise_source = "correction";
    events.push_back(std::move(event));
  }
}

}  // namespace skid::events
