#include "src/events/counted.h"

#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "runway/specification.h"
#include "runway/trigger.h"
#include "src/events/causes.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/events/spelling.h"
#include "src/support/address.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::events {
namespace {

using K = Counted;

/// What the event of a name counts.
struct Meaning {
  Counted counted;
  std::string_view name;  ///< event name in the form of normalized()
  bool once = false;      ///< true if each such instruction that retires causes exactly one
};
constexpr bool kOnce = true;

/// Names of Intel's event files (Nehalem and later, Atoms from Silvermont on) and of libpfm4. Of
/// several names that count the same, the first one that a CPU has is taken. MEM_UOPS_RETIRED
/// counts uops, so that no instruction is certain to cause one.
constexpr auto kIntel = std::to_array<Meaning>(
    {{K::cycles, "CPU_CLK_UNHALTED.THREAD_P"},
     {K::cycles, "CPU_CLK_THREAD_UNHALTED.THREAD_P"},
     {K::cycles, "CPU_CLK_UNHALTED.CORE_P"},
     {K::cycles, "CPU_CLK_UNHALTED"},
     {K::cycles, "CPU_CLK_UNHALTED.THREAD"},
     {K::cycles, "CPU_CLK_UNHALTED.CORE"},
     {K::cycles, "CPU_CLK_UNHALTED.TOTAL_CYCLES"},
     {K::cycles, "UNHALTED_CORE_CYCLES"},
     {K::cycles, "INST_RETIRED.TOTAL_CYCLES"},
     {K::cycles, "INST_RETIRED.TOTAL_CYCLES_PS"},
     {K::cycles, "UOPS_RETIRED.TOTAL_CYCLES"},

     {K::instructions, "INST_RETIRED.ANY_P", kOnce},
     {K::instructions, "INST_RETIRED.ANY", kOnce},
     {K::instructions, "INST_RETIRED.PREC_DIST", kOnce},

     {K::instructions, "INST_RETIRED.ALL"},
     {K::instructions, "UOPS_RETIRED.ALL"},
     {K::instructions, "UOPS_RETIRED.ANY"},

     {K::loads, "MEM_INST_RETIRED.ALL_LOADS", kOnce},
     {K::loads, "MEM_INST_RETIRED.LOADS", kOnce},

     {K::loads, "MEM_UOPS_RETIRED.ALL_LOADS"},
     {K::loads, "MEM_UOPS_RETIRED.LD"},

     {K::locked_loads, "MEM_INST_RETIRED.LOCK_LOADS"},
     {K::locked_loads, "MEM_UOPS_RETIRED.LOCK_LOADS"},

     {K::l1_hits, "MEM_LOAD_RETIRED.L1_HIT"},
     {K::l1_hits, "MEM_LOAD_RETIRED.L1D_HIT"},
     {K::l1_hits, "MEM_LOAD_UOPS_RETIRED.L1_HIT"},

     {K::l2_hits, "MEM_LOAD_RETIRED.L2_HIT"},
     {K::l2_hits, "MEM_LOAD_UOPS_RETIRED.L2_HIT"},

     {K::l3_hits, "MEM_LOAD_RETIRED.L3_HIT"},
     {K::l3_hits, "MEM_LOAD_UOPS_RETIRED.L3_HIT"},
     {K::l3_hits, "MEM_LOAD_UOPS_RETIRED.LLC_HIT"},
     {K::l3_hits, "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT"},
     {K::l3_hits, "MEM_LOAD_RETIRED.L3_UNSHARED_HIT"},

     {K::l1_misses, "MEM_LOAD_RETIRED.L1_MISS"},
     {K::l1_misses, "MEM_LOAD_UOPS_RETIRED.L1_MISS"},

     {K::l2_misses, "MEM_LOAD_RETIRED.L2_MISS"},
     {K::l2_misses, "MEM_LOAD_UOPS_RETIRED.L2_MISS"},

     {K::l3_misses, "MEM_LOAD_RETIRED.L3_MISS"},
     {K::l3_misses, "MEM_LOAD_UOPS_RETIRED.L3_MISS"},
     {K::l3_misses, "MEM_LOAD_UOPS_RETIRED.LLC_MISS"},
     {K::l3_misses, "MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS"},
     {K::l3_misses, "MEM_LOAD_MISC_RETIRED.LLC_MISS"},
     {K::l3_misses, "MEM_LOAD_RETIRED.LLC_MISS"},
     {K::l3_misses, "MEM_LOAD_UOPS_RETIRED_MISC.L3_MISS"},
     {K::l3_misses, "MEM_LOAD_UOPS_L3_MISS_RETIRED.ALL"},
     {K::l3_misses, "MEM_LOAD_UOPS_RETIRED.DRAM_HIT"},

     {K::local_memory, "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM"},
     {K::local_memory, "MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM"},
     {K::local_memory, "MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM"},

     {K::cache_misses, "LONGEST_LAT_CACHE.MISS"},

     {K::stores, "MEM_INST_RETIRED.ALL_STORES", kOnce},
     {K::stores, "MEM_INST_RETIRED.STORES", kOnce},

     {K::stores, "MEM_UOPS_RETIRED.ALL_STORES"},

     {K::split_loads, "MEM_INST_RETIRED.SPLIT_LOADS"},
     {K::split_stores, "MEM_INST_RETIRED.SPLIT_STORES"},
     {K::split_loads, "MEM_UOPS_RETIRED.SPLIT_LOADS"},
     {K::split_stores, "MEM_UOPS_RETIRED.SPLIT_STORES"},
     {K::splits, "MEM_UOPS_RETIRED.SPLIT"},

     {K::branches, "BR_INST_RETIRED.ALL_BRANCHES_PEBS", kOnce},
     {K::branches, "BR_INST_RETIRED.ALL_BRANCHES", kOnce},

     {K::conditional_branches, "BR_INST_RETIRED.COND", kOnce},
     {K::conditional_branches, "BR_INST_RETIRED.CONDITIONAL", kOnce},
     {K::conditional_branches, "BR_INST_RETIRED.JCC", kOnce},

     {K::taken_conditional_branches, "BR_INST_RETIRED.COND_TAKEN"},
     {K::taken_conditional_branches, "BR_INST_RETIRED.TAKEN_JCC"},

     {K::taken_forward_conditional_branches, "BR_INST_RETIRED.COND_TAKEN_FWD"},

     {K::taken_backward_conditional_branches, "BR_INST_RETIRED.COND_TAKEN_BWD"},

     {K::untaken_conditional_branches, "BR_INST_RETIRED.COND_NTAKEN"},
     {K::untaken_conditional_branches, "BR_INST_RETIRED.NOT_TAKEN"},

     {K::taken_branches, "BR_INST_RETIRED.NEAR_TAKEN", kOnce},

     {K::taken_branches, "BR_INST_RETIRED.ALL_TAKEN_BRANCHES"},

     {K::calls, "BR_INST_RETIRED.NEAR_CALL"},
     {K::calls, "BR_INST_RETIRED.CALL"},
     {K::calls, "BR_INST_RETIRED.REL_CALL"},

     {K::returns, "BR_INST_RETIRED.NEAR_RETURN"},
     {K::returns, "BR_INST_RETIRED.RETURN"},

     {K::mispredicted, "BR_MISP_RETIRED.ALL_BRANCHES_PEBS"},
     {K::mispredicted, "BR_MISP_RETIRED.ALL_BRANCHES"},

     {K::mispredicted_conditional, "BR_MISP_RETIRED.COND"},
     {K::mispredicted_conditional, "BR_MISP_RETIRED.CONDITIONAL"},
     {K::mispredicted_conditional, "BR_MISP_RETIRED.JCC"},

     {K::mispredicted_taken_conditional, "BR_MISP_RETIRED.COND_TAKEN"},
     {K::mispredicted_taken_conditional, "BR_MISP_RETIRED.TAKEN_JCC"},

     {K::mispredicted_forward_conditional, "BR_MISP_RETIRED.COND_TAKEN_FWD"},
     {K::mispredicted_forward_conditional, "BR_MISP_RETIRED.COND_TAKEN_FWD_COST"},
     {K::mispredicted_forward_conditional, "BR_MISP_RETIRED.COND_TAKEN_FWD_TPEBS"},
     {K::mispredicted_backward_conditional, "BR_MISP_RETIRED.COND_TAKEN_BWD"},
     {K::mispredicted_backward_conditional, "BR_MISP_RETIRED.COND_TAKEN_BWD_COST"},
     {K::mispredicted_backward_conditional, "BR_MISP_RETIRED.COND_TAKEN_BWD_TPEBS"},

     {K::mispredicted_untaken_conditional, "BR_MISP_RETIRED.COND_NTAKEN"},
     {K::mispredicted_untaken_conditional, "BR_MISP_RETIRED.NOT_TAKEN"},

     {K::mispredicted_taken, "BR_MISP_RETIRED.NEAR_TAKEN"},
     {K::mispredicted_taken, "BR_MISP_RETIRED.TAKEN"},

     {K::mispredicted_returns, "BR_MISP_RETIRED.RET"},
     {K::mispredicted_returns, "BR_MISP_RETIRED.RETURN"},
     {K::mispredicted_returns, "BR_MISP_RETIRED.NEAR_RETURN"},

     {K::repetitions, "INST_RETIRED.REP_ITERATION"},
     {K::float_divisions, "UOPS_RETIRED.FPDIV"},
     {K::divisions, "UOPS_RETIRED.IDIV"},
     {K::divisions, "ARITH.DIV"},
     {K::divisions, "ARITH.FPU_DIV"},

     {K::divider_uops, "ARITH.DIVIDER_UOPS"},

     {K::divider_cycles, "ARITH.DIVIDER_ACTIVE"},
     {K::divider_cycles, "ARITH.DIV_ACTIVE"},
     {K::divider_cycles, "ARITH.IDIV_ACTIVE"},
     {K::divider_cycles, "ARITH.CYCLES_DIV_BUSY"},
     {K::divider_cycles, "ARITH.FPU_DIV_ACTIVE"},
     {K::divider_cycles, "CYCLES_DIV_BUSY.ALL"},
     {K::divider_cycles, "CYCLES_DIV_BUSY.IDIV"},

     {K::prefetches, "SW_PREFETCH_ACCESS.T0"},
     {K::prefetches, "SW_PREFETCH.T0"}});

/// Names of libpfm4 and of perf, families 17h, 19h and 1Ah.
constexpr auto kAmd = std::to_array<Meaning>(
    {{K::cycles, "CYCLES_NOT_IN_HALT"},
     {K::cycles, "LS_NOT_HALTED_CYC"},

     {K::instructions, "RETIRED_INSTRUCTIONS"},
     {K::instructions, "RETIRED_OPS"},
     {K::instructions, "RETIRED_UOPS"},
     {K::instructions, "EX_RET_INSTR"},
     {K::instructions, "EX_RET_OPS"},
     {K::instructions, "EX_RET_COPS"},

     {K::loads, "LS_DISPATCH.LD_DISPATCH"},

     {K::stores, "LS_DISPATCH.STORE_DISPATCH"},

     {K::locked_loads, "RETIRED_LOCK_INSTRUCTIONS.CACHEABLE_LOCKS"},

     {K::l2_hits, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM.LCL_L2"},
     {K::l2_hits, "LS_DMND_FILLS_FROM_SYS.LOCAL_L2"},

     {K::l3_hits, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM.LOCAL_CCX"},
     {K::l3_hits, "LS_DMND_FILLS_FROM_SYS.LOCAL_CCX"},

     {K::local_memory, "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM.DRAM_IO_NEAR"},
     {K::local_memory, "DATA_CACHE_REFILLS_FROM_SYSTEM.LS_MABRESP_LCL_DRAM"},
     {K::local_memory, "LS_DMND_FILLS_FROM_SYS.DRAM_IO_NEAR"},

     {K::branches, "RETIRED_BRANCH_INSTRUCTIONS"},
     {K::branches, "EX_RET_BRN"},

     {K::conditional_branches, "RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS"},
     {K::conditional_branches, "EX_RET_COND"},

     {K::taken_branches, "RETIRED_TAKEN_BRANCH_INSTRUCTIONS"},
     {K::taken_branches, "EX_RET_BRN_TKN"},

     {K::returns, "RETIRED_NEAR_RETURNS"},
     {K::returns, "EX_RET_NEAR_RET"},

     {K::mispredicted, "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED"},
     {K::mispredicted, "EX_RET_BRN_MISP"},

     {K::mispredicted_conditional, "RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS_MISPREDICTED"},
     {K::mispredicted_conditional, "EX_RET_COND_MISP"},

     {K::mispredicted_taken, "RETIRED_TAKEN_BRANCH_INSTRUCTIONS_MISPREDICTED"},
     {K::mispredicted_taken, "EX_RET_BRN_TKN_MISP"},

     {K::mispredicted_returns, "RETIRED_NEAR_RETURNS_MISPREDICTED"},
     {K::mispredicted_returns, "EX_RET_NEAR_RET_MISPRED"},

     {K::divisions, "DIV_OP_COUNT"},
     {K::divisions, "EX_DIV_COUNT"},

     {K::divider_cycles, "DIV_CYCLES_BUSY_COUNT"},
     {K::divider_cycles, "EX_DIV_BUSY"},

     {K::prefetches, "PREFETCH_INSTRUCTIONS_DISPATCHED.PREFETCH_T0_T1_T2"},
     {K::prefetches, "LS_PREF_INSTR_DISP.PREFETCH"},

     {K::flushes, "RETIRED_CLFLUSH_INSTRUCTIONS"},
     {K::flushes, "LS_RET_CL_FLUSH"},

     {K::cpuids, "RETIRED_CPUID_INSTRUCTIONS"},
     {K::cpuids, "LS_RET_CPUID"}});

/// Names of the Arm architecture's common events (PMUv3), which all cores share.
constexpr auto kArm = std::to_array<Meaning>({{K::cycles, "CPU_CYCLES"},

                                              {K::instructions, "INST_RETIRED"},

                                              {K::loads, "LD_RETIRED"},
                                              {K::loads, "MEM_ACCESS_RD"},
                                              {K::loads, "DATA_MEM_READ_ACCESS"},
                                              {K::loads, "LD_SPEC"},

                                              {K::l3_misses, "LL_CACHE_MISS_RD"},
                                              {K::l3_misses, "LAST_LEVEL_CACHE_MISS_READ"},

                                              {K::l1_misses, "L1D_CACHE_REFILL_RD"},

                                              {K::l2_misses, "L2D_CACHE_REFILL_RD"},

                                              {K::stores, "ST_RETIRED"},
                                              {K::stores, "MEM_ACCESS_WR"},
                                              {K::stores, "DATA_MEM_WRITE_ACCESS"},
                                              {K::stores, "ST_SPEC"},

                                              {K::branches, "BR_RETIRED"},
                                              {K::branches, "BR_PRED"},

                                              {K::taken_branches, "BR_TAKEN_RETIRED"},
                                              {K::taken_branches, "PC_WRITE_RETIRED"},

                                              {K::returns, "BR_RETURN_RETIRED"},

                                              {K::mispredicted, "BR_MIS_PRED_RETIRED"},
                                              {K::mispredicted, "BR_MIS_PRED"}});

/// Families of Intel's events that any instruction causes, except those whose names define the
/// causes (causes_by_name): operations at retirement, and how the instruction was fetched.
constexpr std::array<std::string_view, 5> kOfAnyInstruction{
    "INST_RETIRED", "UOPS_RETIRED", "TOPDOWN_RETIRING", "FRONTEND_RETIRED", "ITLB_MISS_RETIRED"};

bool is_of_any_instruction(const Event& event) {
  const std::string name = normalized(event.name);
  // A value without a name follows the family after a space.
  const std::string family = name.substr(0, name.find_first_of(". "));
  return std::ranges::find(kOfAnyInstruction, family) != kOfAnyInstruction.end();
}

std::span<const Meaning> meanings_of(ConfigLayout layout) {
  if (layout == ConfigLayout::intel) return kIntel;
  if (layout == ConfigLayout::amd) return kAmd;
  return kArm;
}

struct Found {
  Meaning meaning = {Counted::other, {}};
  int place = std::numeric_limits<int>::max();  ///< row in its table
};

Found find(const Event& event) {
  std::vector<std::string> wanted{normalized(event.name)};
  for (const std::string& alias : event.aliases) wanted.push_back(normalized(alias));
  int place = 0;
  for (const Meaning& meaning : meanings_of(event.layout)) {
    if (std::ranges::find(wanted, meaning.name) != wanted.end()) return {meaning, place};
    ++place;
  }
  return {};
}

using runway::Kind;
using runway::TriggerKind;

bool is_load_event(Counted counted) {
  return counted == Counted::loads || counted == Counted::locked_loads ||
         counted == Counted::local_memory || missed_level(counted) || counted == Counted::l1_hits;
}

/// The verdict on the kind's category, where one is known.
std::optional<Verdict> known_verdict(const Event& event, const Kind& kind) {
  if (counting_unit(event).empty()) return std::nullopt;
  return verdict_on(measured_causes(event.core, event.config), {kind.category});
}

/// AMD's LS_DISPATCH has a separate umask for operations that load and store the same address
/// (Processor Programming Reference, PMCx029); whether it counts atomic ones is not documented.
bool is_doubtful_dispatch(ConfigLayout layout, Counted counted, const Kind& kind) {
  return layout == ConfigLayout::amd && kind.causes(Counted::locked_loads) &&
         (counted == Counted::loads || counted == Counted::stores);
}

}  // namespace

Counted counted_by(const Event& event) {
  const Counted counted = find(event).meaning.counted;
  const bool is_other = counted == K::other && event.layout == ConfigLayout::intel;
  if (!is_other || !is_of_any_instruction(event)) return counted;
  const bool has_causes = std::ranges::any_of(
      causes_of(event), [](const Cause& cause) { return cause.verdict != Verdict::unknown; });
  return has_causes ? K::other : K::any_instruction;
}

std::optional<Counted> caused_once_by(const Event& event) {
  constexpr std::uint64_t kEventAndUmask = 0xffff;
  if ((event.config & ~kEventAndUmask) != 0 || event.config1 != 0) return std::nullopt;
  const Meaning meaning = find(event).meaning;
  return meaning.once ? std::optional(meaning.counted) : std::nullopt;
}

int preference(const Event& event) {
  return find(event).place;
}

Arch arch_of(ConfigLayout layout) {
  return layout == ConfigLayout::arm ? Arch::aarch64 : Arch::x86_64;
}

std::vector<TriggerKind> kinds_causing(Counted counted, Arch arch) {
  std::vector<TriggerKind> kinds = runway::trigger_kinds_of(arch);
  std::erase_if(kinds,
                [counted](TriggerKind kind) { return !runway::kind_of(kind).causes(counted); });
  std::stable_partition(kinds.begin(), kinds.end(), [counted](TriggerKind kind) {
    return !runway::kind_of(kind).effect_on(counted)->second_choice;
  });
  return kinds;
}

std::optional<double> expected_events(const Event& event,
                                      const runway::Specification& specification) {
  const Counted counted = counted_by(event);
  const Kind& kind = runway::kind_of(specification.trigger);
  if (is_doubtful_dispatch(event.layout, counted, kind)) return std::nullopt;
  if (is_load_event(counted) && kind.is_doubtful_load &&
      known_verdict(event, kind) != Verdict::never) {
    return std::nullopt;
  }
  return runway::events_per_iteration(specification, counted);
}

std::optional<int> missed_level(Counted counted) {
  if (counted == Counted::l1_misses || counted == Counted::l2_hits) return 1;
  if (counted == Counted::l2_misses || counted == Counted::l3_hits) return 2;
  return counted == Counted::l3_misses ? std::optional(3) : std::nullopt;
}

Verdict verdict_on(const Event& event, TriggerKind trigger) {
  const Counted counted = counted_by(event);
  const Kind& kind = runway::kind_of(trigger);
  if (!kind.code(arch_of(event.layout)) || !kind.causes(counted)) return Verdict::never;
  if (is_doubtful_dispatch(event.layout, counted, kind)) return Verdict::maybe;
  const Verdict of_kind = kind.effect_on(counted)->by_trigger;
  const auto known = is_load_event(counted) ? known_verdict(event, kind) : std::nullopt;
  // Where the access goes is known here; where the source is silent the kind's verdict counts.
  const bool is_certain = known == Verdict::can || known == Verdict::conditional;
  const bool is_decided = known == Verdict::never || (is_certain && of_kind == Verdict::maybe);
  return is_decided ? *known : of_kind;
}

std::vector<TriggerCause> triggers_of(const Event& event) {
  std::vector<TriggerCause> causes;
  const Arch arch = arch_of(event.layout);
  for (const TriggerKind trigger : kinds_causing(counted_by(event), arch)) {
    const Verdict verdict = verdict_on(event, trigger);
    if (verdict == Verdict::never) continue;
    causes.push_back(
        {trigger, verdict, expected_events(event, runway::default_specification(arch, trigger))});
  }
  return causes;
}

std::optional<TriggerKind> best_trigger(const Event& event) {
  const auto causes = triggers_of(event);
  return causes.empty() ? std::nullopt : std::optional(causes.front().kind);
}

}  // namespace skid::events
