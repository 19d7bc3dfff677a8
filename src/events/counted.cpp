#include "src/events/counted.h"

#include "src/events/spelling.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>

namespace skid::events {
namespace {

using K = Counted;

struct Meaning {
  std::string_view name;  ///< as normalized() writes it
  Counted counted;
};

/// Names of libpfm4 and of Intel's event files, Nehalem to Sapphire Rapids and Atoms from
/// Silvermont on. Of those that count the same the first one that a CPU has is the one to take.
constexpr std::array kIntel{
    Meaning{"CPU_CLK_UNHALTED.THREAD_P", K::cycles},
    Meaning{"CPU_CLK_THREAD_UNHALTED.THREAD_P", K::cycles},
    Meaning{"CPU_CLK_UNHALTED.CORE_P", K::cycles},
    Meaning{"CPU_CLK_UNHALTED", K::cycles},
    Meaning{"CPU_CLK_UNHALTED.THREAD", K::cycles},
    Meaning{"CPU_CLK_UNHALTED.CORE", K::cycles},
    Meaning{"CPU_CLK_UNHALTED.TOTAL_CYCLES", K::cycles},
    Meaning{"UNHALTED_CORE_CYCLES", K::cycles},
    Meaning{"INST_RETIRED.TOTAL_CYCLES", K::cycles},
    Meaning{"INST_RETIRED.TOTAL_CYCLES_PS", K::cycles},
    Meaning{"UOPS_RETIRED.TOTAL_CYCLES", K::cycles},
    Meaning{"INST_RETIRED.ANY_P", K::instructions},
    Meaning{"INST_RETIRED.ANY", K::instructions},
    Meaning{"INST_RETIRED.ALL", K::instructions},
    Meaning{"INST_RETIRED.PREC_DIST", K::instructions},
    Meaning{"UOPS_RETIRED.ALL", K::instructions},
    Meaning{"UOPS_RETIRED.ANY", K::instructions},
    Meaning{"MEM_INST_RETIRED.ALL_LOADS", K::loads},
    Meaning{"MEM_UOPS_RETIRED.ALL_LOADS", K::loads},
    Meaning{"MEM_INST_RETIRED.LOADS", K::loads},
    Meaning{"MEM_UOPS_RETIRED.LD", K::loads},
    Meaning{"MEM_INST_RETIRED.LOCK_LOADS", K::locked_loads},
    Meaning{"MEM_UOPS_RETIRED.LOCK_LOADS", K::locked_loads},
    Meaning{"MEM_LOAD_RETIRED.L1_HIT", K::l1_hits},
    Meaning{"MEM_LOAD_RETIRED.L1D_HIT", K::l1_hits},
    Meaning{"MEM_LOAD_UOPS_RETIRED.L1_HIT", K::l1_hits},
    Meaning{"MEM_LOAD_RETIRED.L2_HIT", K::l2_hits},
    Meaning{"MEM_LOAD_UOPS_RETIRED.L2_HIT", K::l2_hits},
    Meaning{"MEM_LOAD_RETIRED.L3_HIT", K::l3_hits},
    Meaning{"MEM_LOAD_UOPS_RETIRED.L3_HIT", K::l3_hits},
    Meaning{"MEM_LOAD_UOPS_RETIRED.LLC_HIT", K::l3_hits},
    Meaning{"MEM_LOAD_RETIRED.L3_UNSHARED_HIT", K::l3_hits},
    Meaning{"MEM_LOAD_RETIRED.L1_MISS", K::l1_misses},
    Meaning{"MEM_LOAD_UOPS_RETIRED.L1_MISS", K::l1_misses},
    Meaning{"MEM_LOAD_RETIRED.L2_MISS", K::l2_misses},
    Meaning{"MEM_LOAD_UOPS_RETIRED.L2_MISS", K::l2_misses},
    Meaning{"MEM_LOAD_RETIRED.L3_MISS", K::l3_misses},
    Meaning{"MEM_LOAD_UOPS_RETIRED.L3_MISS", K::l3_misses},
    Meaning{"MEM_LOAD_UOPS_RETIRED.LLC_MISS", K::l3_misses},
    Meaning{"MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS", K::l3_misses},
    Meaning{"MEM_LOAD_MISC_RETIRED.LLC_MISS", K::l3_misses},
    Meaning{"MEM_LOAD_UOPS_RETIRED.DRAM_HIT", K::l3_misses},
    Meaning{"MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", K::local_memory},
    Meaning{"MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", K::local_memory},
    Meaning{"MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM", K::local_memory},
    Meaning{"LONGEST_LAT_CACHE.MISS", K::cache_misses},
    Meaning{"MEM_INST_RETIRED.ALL_STORES", K::stores},
    Meaning{"MEM_UOPS_RETIRED.ALL_STORES", K::stores},
    Meaning{"MEM_INST_RETIRED.STORES", K::stores},
    Meaning{"BR_INST_RETIRED.ALL_BRANCHES_PEBS", K::branches},
    Meaning{"BR_INST_RETIRED.ALL_BRANCHES", K::branches},
    Meaning{"BR_INST_RETIRED.COND", K::conditional_branches},
    Meaning{"BR_INST_RETIRED.CONDITIONAL", K::conditional_branches},
    Meaning{"BR_INST_RETIRED.JCC", K::conditional_branches},
    Meaning{"BR_INST_RETIRED.COND_TAKEN", K::taken_conditional_branches},
    Meaning{"BR_INST_RETIRED.TAKEN_JCC", K::taken_conditional_branches},
    Meaning{"BR_INST_RETIRED.COND_NTAKEN", K::untaken_conditional_branches},
    Meaning{"BR_INST_RETIRED.NOT_TAKEN", K::untaken_conditional_branches},
    Meaning{"BR_INST_RETIRED.NEAR_TAKEN", K::taken_branches},
    Meaning{"BR_INST_RETIRED.ALL_TAKEN_BRANCHES", K::taken_branches},
    Meaning{"BR_INST_RETIRED.NEAR_CALL", K::calls},
    Meaning{"BR_INST_RETIRED.CALL", K::calls},
    Meaning{"BR_INST_RETIRED.REL_CALL", K::calls},
    Meaning{"BR_INST_RETIRED.NEAR_RETURN", K::returns},
    Meaning{"BR_INST_RETIRED.RETURN", K::returns},
    Meaning{"BR_MISP_RETIRED.ALL_BRANCHES_PEBS", K::mispredicted},
    Meaning{"BR_MISP_RETIRED.ALL_BRANCHES", K::mispredicted},
    Meaning{"BR_MISP_RETIRED.COND", K::mispredicted_conditional},
    Meaning{"BR_MISP_RETIRED.CONDITIONAL", K::mispredicted_conditional},
    Meaning{"BR_MISP_RETIRED.JCC", K::mispredicted_conditional},
    Meaning{"BR_MISP_RETIRED.COND_TAKEN", K::mispredicted_taken_conditional},
    Meaning{"BR_MISP_RETIRED.TAKEN_JCC", K::mispredicted_taken_conditional},
    Meaning{"BR_MISP_RETIRED.COND_NTAKEN", K::mispredicted_untaken_conditional},
    Meaning{"BR_MISP_RETIRED.NOT_TAKEN", K::mispredicted_untaken_conditional},
    Meaning{"BR_MISP_RETIRED.NEAR_TAKEN", K::mispredicted_taken},
    Meaning{"BR_MISP_RETIRED.TAKEN", K::mispredicted_taken},
    Meaning{"BR_MISP_RETIRED.RET", K::mispredicted_returns},
    Meaning{"BR_MISP_RETIRED.RETURN", K::mispredicted_returns},
    Meaning{"ARITH.DIV", K::divisions},
    Meaning{"ARITH.FPU_DIV", K::divisions},
    Meaning{"ARITH.DIVIDER_UOPS", K::divider_uops},
    Meaning{"ARITH.DIVIDER_ACTIVE", K::divider_cycles},
    Meaning{"ARITH.DIV_ACTIVE", K::divider_cycles},
    Meaning{"ARITH.IDIV_ACTIVE", K::divider_cycles},
    Meaning{"ARITH.CYCLES_DIV_BUSY", K::divider_cycles},
    Meaning{"ARITH.FPU_DIV_ACTIVE", K::divider_cycles},
    Meaning{"CYCLES_DIV_BUSY.ALL", K::divider_cycles},
    Meaning{"CYCLES_DIV_BUSY.IDIV", K::divider_cycles},
    Meaning{"SW_PREFETCH_ACCESS.T0", K::prefetches},
    Meaning{"SW_PREFETCH.T0", K::prefetches},
};

/// Names of libpfm4, families 17h and 19h.
constexpr std::array kAmd{
    Meaning{"CYCLES_NOT_IN_HALT", K::cycles},
    Meaning{"RETIRED_INSTRUCTIONS", K::instructions},
    Meaning{"RETIRED_OPS", K::instructions},
    Meaning{"RETIRED_UOPS", K::instructions},
    Meaning{"LS_DISPATCH.LD_DISPATCH", K::loads},
    Meaning{"LS_DISPATCH.STORE_DISPATCH", K::stores},
    Meaning{"RETIRED_LOCK_INSTRUCTIONS.CACHEABLE_LOCKS", K::locked_loads},
    Meaning{"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM.LCL_L2", K::l2_hits},
    Meaning{"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM.LOCAL_CCX", K::l3_hits},
    Meaning{"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM.DRAM_IO_NEAR", K::local_memory},
    Meaning{"DATA_CACHE_REFILLS_FROM_SYSTEM.LS_MABRESP_LCL_DRAM", K::local_memory},
    Meaning{"RETIRED_BRANCH_INSTRUCTIONS", K::branches},
    Meaning{"RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS", K::conditional_branches},
    Meaning{"RETIRED_TAKEN_BRANCH_INSTRUCTIONS", K::taken_branches},
    Meaning{"RETIRED_NEAR_RETURNS", K::returns},
    Meaning{"RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", K::mispredicted},
    Meaning{"RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS_MISPREDICTED", K::mispredicted_conditional},
    Meaning{"RETIRED_TAKEN_BRANCH_INSTRUCTIONS_MISPREDICTED", K::mispredicted_taken},
    Meaning{"RETIRED_NEAR_RETURNS_MISPREDICTED", K::mispredicted_returns},
    Meaning{"DIV_OP_COUNT", K::divisions},
    Meaning{"DIV_CYCLES_BUSY_COUNT", K::divider_cycles},
    Meaning{"PREFETCH_INSTRUCTIONS_DISPATCHED.PREFETCH_T0_T1_T2", K::prefetches},
    Meaning{"RETIRED_CLFLUSH_INSTRUCTIONS", K::flushes},
    Meaning{"RETIRED_CPUID_INSTRUCTIONS", K::cpuids},
};

/// Names of the Arm architecture's common events (PMUv3), which all cores share.
constexpr std::array kArm{
    Meaning{"CPU_CYCLES", K::cycles},
    Meaning{"INST_RETIRED", K::instructions},
    Meaning{"LD_RETIRED", K::loads},
    Meaning{"MEM_ACCESS_RD", K::loads},
    Meaning{"DATA_MEM_READ_ACCESS", K::loads},
    Meaning{"LD_SPEC", K::loads},
    Meaning{"LL_CACHE_MISS_RD", K::l3_misses},
    Meaning{"LAST_LEVEL_CACHE_MISS_READ", K::l3_misses},
    Meaning{"L1D_CACHE_REFILL_RD", K::l1_misses},
    Meaning{"L2D_CACHE_REFILL_RD", K::l2_misses},
    Meaning{"ST_RETIRED", K::stores},
    Meaning{"MEM_ACCESS_WR", K::stores},
    Meaning{"DATA_MEM_WRITE_ACCESS", K::stores},
    Meaning{"ST_SPEC", K::stores},
    Meaning{"BR_RETIRED", K::branches},
    Meaning{"BR_PRED", K::branches},
    Meaning{"BR_TAKEN_RETIRED", K::taken_branches},
    Meaning{"PC_WRITE_RETIRED", K::taken_branches},
    Meaning{"BR_RETURN_RETIRED", K::returns},
    Meaning{"BR_MIS_PRED_RETIRED", K::mispredicted},
    Meaning{"BR_MIS_PRED", K::mispredicted},
};

/// Events of Intel's that any instruction causes: of its operations at retirement, and of how it
/// was fetched.
constexpr std::array<std::string_view, 4> kOfAnyInstruction{
    "INST_RETIRED.", "UOPS_RETIRED.", "FRONTEND_RETIRED.", "ITLB_MISS_RETIRED"};

bool is_of_any_instruction(const Event& event) {
  const std::string name = normalized(event.name);
  return std::any_of(kOfAnyInstruction.begin(), kOfAnyInstruction.end(),
                     [&name](std::string_view family) { return name.starts_with(family); });
}

struct Found {
  Counted counted = Counted::other;
  int place = std::numeric_limits<int>::max();
};

template <std::size_t N>
Found find(const std::array<Meaning, N>& meanings, const Event& event) {
  Found found;
  const auto look_up = [&](const std::string& name) {
    const std::string wanted = normalized(name);
    const auto row = std::find_if(meanings.begin(), meanings.end(),
                                  [&](const Meaning& known) { return known.name == wanted; });
    const int place = static_cast<int>(row - meanings.begin());
    if (row != meanings.end() && place < found.place) found = {row->counted, place};
  };
  look_up(event.name);
  for (const std::string& alias : event.aliases) look_up(alias);
  return found;
}

Found find(const Cpu& cpu, const Event& event) {
  switch (cpu.layout) {
    case ConfigLayout::intel:
      return find(kIntel, event);
    case ConfigLayout::amd:
      return find(kAmd, event);
    case ConfigLayout::arm:
      break;
  }
  return find(kArm, event);
}

}  // namespace

Counted counted_by(const Cpu& cpu, const Event& event) {
  const Counted counted = find(cpu, event).counted;
  const bool other = counted == K::other && cpu.layout == ConfigLayout::intel;
  return other && is_of_any_instruction(event) ? K::any_instruction : counted;
}

Counted counted_by_generic(std::string_view name) {
  for (const std::string_view busy : {"cycles", "cpu-cycles", "ref-cycles", "bus-cycles"}) {
    if (name == busy) return K::cycles;
  }
  if (name == "instructions") return K::instructions;
  if (name == "branches" || name == "branch-instructions") return K::branches;
  return name == "branch-misses" ? K::mispredicted : K::other;
}

int preference(const Cpu& cpu, const Event& event) {
  return find(cpu, event).place;
}

}  // namespace skid::events
