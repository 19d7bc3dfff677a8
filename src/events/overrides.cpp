#include "src/events/pfm_tables.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::events {
namespace {

/// Flags that differ from Intel's published event files (keys PEBS and Precise), which decide.
/// Where Intel's own rows for a code contradict each other (Skylake r01c4), libpfm4's stays.
struct Precision {
  Core core;
  bool precise;
  std::array<std::uint64_t, 11> configs;  ///< padded with 0
};
constexpr std::array<Precision, 6> kPrecisions{{
    // MEM_LOAD_L3_MISS_RETIRED.*, MEM_LOAD_RETIRED.LOCAL_PMM, RTM_RETIRED.ABORTED,
    // INST_RETIRED.ANY_P, NOP, REP_ITERATION, MACRO_FUSED.
    {Core::sapphire_rapids,
     true,
     {0x01d3, 0x02d3, 0x04d3, 0x08d3, 0x10d3, 0x80d1, 0x04c9, 0x00c0, 0x02c0, 0x08c0, 0x10c0}},
    // INST_RETIRED.ANY, ANY_P, NOP, RTM_RETIRED.ABORTED.
    {Core::icelake, true, {0x0100, 0x00c0, 0x02c0, 0x04c9}},
    // Below: BR_INST_RETIRED.ALL_BRANCHES, FAR_BRANCH, NOT_TAKEN, BR_MISP_RETIRED.ALL_BRANCHES (the
    // precise ones are *.ALL_BRANCHES_PEBS at umask 4), and of UOPS_RETIRED STALL_CYCLES,
    // TOTAL_CYCLES, CORE_STALL_CYCLES, RETIRE_SLOTS: counts of cycles, which no instruction causes.
    // MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM.
    {Core::ivy_bridge, false, {0x00c4, 0x40c4, 0x10c4, 0x00c5, 0x01d3, 0x18001c2, 0xa8001c2}},
    // INST_RETIRED.X87.
    {Core::haswell,
     false,
     {0x00c4, 0x40c4, 0x10c4, 0x00c5, 0x02c0, 0x18001c2, 0x1a001c2, 0xa8001c2}},
    {Core::broadwell, false, {0x00c4, 0x40c4, 0x10c4, 0x00c5, 0x18001c2, 0xa8001c2}},
    {Core::skylake, false, {0x00c4, 0x10c4, 0x00c5, 0x18002c2, 0xa8001c2, 0x02c2}},
}};

constexpr std::string_view kManual = "manuals and libpfm4 4.13 give";
constexpr std::string_view kPfm = "libpfm4 4.13 gives";
constexpr std::string_view kLeavesOutModified = "it leaves out hits on modified lines";
constexpr std::string_view kIntelsFile = "Intel's event files have the one here";

using Cores = std::initializer_list<Core>;
constexpr Cores kHaswellAndBroadwell{Core::haswell, Core::broadwell};
constexpr Cores kIvyBridgeToSkylake{Core::ivy_bridge, Core::haswell, Core::broadwell,
                                    Core::skylake};
constexpr Cores kIvyBridge{Core::ivy_bridge}, kSkylake{Core::skylake}, kIcelake{Core::icelake},
    kSapphireRapids{Core::sapphire_rapids};

bool contains(Cores cores, Core core) {
  return std::find(cores.begin(), cores.end(), core) != cores.end();
}

/// Names whose code is wrong, with their aliases (L2_RQSTS.RFO_HIT, ARITH.INT_DIVIDER_ACTIVE).
struct Code {
  Cores cores;
  std::string_view name;
  std::uint64_t config;
  std::string_view who, reason;
};
constexpr std::array<Code, 9> kCodes{{
    {kHaswellAndBroadwell, "L2_RQSTS.DEMAND_DATA_RD_HIT", 0xc124, kManual, kLeavesOutModified},
    {kHaswellAndBroadwell, "L2_RQSTS.DEMAND_RFO_HIT", 0xc224, kManual, kLeavesOutModified},
    {kHaswellAndBroadwell, "L2_RQSTS.CODE_RD_HIT", 0xc424, kManual, kLeavesOutModified},
    {kIvyBridge, "MOVE_ELIMINATION.INT_ELIMINATED", 0x0158, kPfm, kIntelsFile},
    {kIvyBridge, "MOVE_ELIMINATION.INT_NOT_ELIMINATED", 0x0458, kPfm, kIntelsFile},
    {kSkylake, "UOPS_RETIRED.STALL_CYCLES", 0x18002c2, kPfm, kIntelsFile},
    {kIcelake, "MEM_LOAD_MISC_RETIRED.UC", 0x04d4, kPfm, kIntelsFile},
    {kSapphireRapids, "MEM_TRANS_RETIRED.STORE_SAMPLE", 0x02cd, kPfm, kIntelsFile},
    {kSapphireRapids, "ARITH.IDIV_ACTIVE", 0x10008b0, kPfm, kIntelsFile},
}};

/// Precise events that libpfm4 does not have.
struct Addition {
  Cores cores;
  std::string_view name;
  std::uint64_t config;
  std::string_view description;
};
constexpr std::array<Addition, 4> kAdditions{{
    {kIvyBridgeToSkylake, "BR_INST_RETIRED.ALL_BRANCHES_PEBS", 0x04c4,
     "All retired branches, sampled precisely"},
    {kIvyBridgeToSkylake, "BR_MISP_RETIRED.ALL_BRANCHES_PEBS", 0x04c5,
     "All retired mispredicted branches, sampled precisely"},
    {kSkylake, "INST_RETIRED.NOP", 0x02c0, "Retired NOP instructions"},
    {kIcelake, "BR_MISP_RETIRED.RET", 0x08c5, "Retired mispredicted returns"},
}};

void correct_code(Core core, Event& event) {
  for (const Code& code : kCodes) {
    if (!contains(code.cores, core) || code.name != event.name || code.config == event.config) {
      continue;
    }
    event.manual_errors.push_back(
        fmt::format("{} r{:04x} for this name; {}", code.who, event.config, code.reason));
    event.config = code.config;
  }
}

void correct_precision(Core core, Event& event) {
  for (const auto& [of, precise, configs] : kPrecisions) {
    if (of != core || precise == event.precise || event.config == 0) continue;
    if (std::find(configs.begin(), configs.end(), event.config) == configs.end()) continue;
    event.precise = precise;
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
    if (!contains(addition.cores, core) || listed) continue;
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
