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
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {
namespace {

using K = Counted;

/// The names of events that count the same, in the form of normalized(), the preferred one first;
/// unused elements are empty.
struct Meaning {
  Counted counted;
  std::array<std::string_view, 11> names;
};

/// Names of Intel's event files (Nehalem and later, Atoms from Silvermont on) and of libpfm4.
constexpr auto kIntel = std::to_array<Meaning>({
    {K::cycles,
     {"CPU_CLK_UNHALTED.THREAD_P", "CPU_CLK_THREAD_UNHALTED.THREAD_P", "CPU_CLK_UNHALTED.CORE_P",
      "CPU_CLK_UNHALTED", "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.CORE",
      "CPU_CLK_UNHALTED.TOTAL_CYCLES", "UNHALTED_CORE_CYCLES", "INST_RETIRED.TOTAL_CYCLES",
      "INST_RETIRED.TOTAL_CYCLES_PS", "UOPS_RETIRED.TOTAL_CYCLES"}},
    {K::instructions,
     {"INST_RETIRED.ANY_P", "INST_RETIRED.ANY", "INST_RETIRED.PREC_DIST", "INST_RETIRED.ALL",
      "UOPS_RETIRED.ALL", "UOPS_RETIRED.ANY"}},
    {K::loads,
     {"MEM_INST_RETIRED.ALL_LOADS", "MEM_INST_RETIRED.LOADS", "MEM_UOPS_RETIRED.ALL_LOADS",
      "MEM_UOPS_RETIRED.LD"}},
    {K::locked_loads, {"MEM_INST_RETIRED.LOCK_LOADS", "MEM_UOPS_RETIRED.LOCK_LOADS"}},
    {K::l1_hits,
     {"MEM_LOAD_RETIRED.L1_HIT", "MEM_LOAD_RETIRED.L1D_HIT", "MEM_LOAD_UOPS_RETIRED.L1_HIT"}},
    {K::l2_hits, {"MEM_LOAD_RETIRED.L2_HIT", "MEM_LOAD_UOPS_RETIRED.L2_HIT"}},
    {K::l3_hits,
     {"MEM_LOAD_RETIRED.L3_HIT", "MEM_LOAD_UOPS_RETIRED.L3_HIT", "MEM_LOAD_UOPS_RETIRED.LLC_HIT",
      "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT", "MEM_LOAD_RETIRED.L3_UNSHARED_HIT"}},
    {K::l1_misses, {"MEM_LOAD_RETIRED.L1_MISS", "MEM_LOAD_UOPS_RETIRED.L1_MISS"}},
    {K::l2_misses, {"MEM_LOAD_RETIRED.L2_MISS", "MEM_LOAD_UOPS_RETIRED.L2_MISS"}},
    {K::l3_misses,
     {"MEM_LOAD_RETIRED.L3_MISS", "MEM_LOAD_UOPS_RETIRED.L3_MISS", "MEM_LOAD_UOPS_RETIRED.LLC_MISS",
      "MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS", "MEM_LOAD_MISC_RETIRED.LLC_MISS",
      "MEM_LOAD_RETIRED.LLC_MISS", "MEM_LOAD_UOPS_RETIRED_MISC.L3_MISS",
      "MEM_LOAD_UOPS_L3_MISS_RETIRED.ALL", "MEM_LOAD_UOPS_RETIRED.DRAM_HIT"}},
    {K::local_memory,
     {"MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", "MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM",
      "MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM"}},
    {K::cache_misses, {"LONGEST_LAT_CACHE.MISS"}},
    {K::stores,
     {"MEM_INST_RETIRED.ALL_STORES", "MEM_INST_RETIRED.STORES", "MEM_UOPS_RETIRED.ALL_STORES"}},
    {K::split_loads, {"MEM_INST_RETIRED.SPLIT_LOADS", "MEM_UOPS_RETIRED.SPLIT_LOADS"}},
    {K::split_stores, {"MEM_INST_RETIRED.SPLIT_STORES", "MEM_UOPS_RETIRED.SPLIT_STORES"}},
    {K::splits, {"MEM_UOPS_RETIRED.SPLIT"}},
    {K::branches, {"BR_INST_RETIRED.ALL_BRANCHES_PEBS", "BR_INST_RETIRED.ALL_BRANCHES"}},
    {K::conditional_branches,
     {"BR_INST_RETIRED.COND", "BR_INST_RETIRED.CONDITIONAL", "BR_INST_RETIRED.JCC"}},
    {K::taken_conditional_branches, {"BR_INST_RETIRED.COND_TAKEN", "BR_INST_RETIRED.TAKEN_JCC"}},
    {K::taken_forward_conditional_branches, {"BR_INST_RETIRED.COND_TAKEN_FWD"}},
    {K::taken_backward_conditional_branches, {"BR_INST_RETIRED.COND_TAKEN_BWD"}},
    {K::untaken_conditional_branches, {"BR_INST_RETIRED.COND_NTAKEN", "BR_INST_RETIRED.NOT_TAKEN"}},
    {K::taken_branches, {"BR_INST_RETIRED.NEAR_TAKEN", "BR_INST_RETIRED.ALL_TAKEN_BRANCHES"}},
    {K::calls, {"BR_INST_RETIRED.NEAR_CALL", "BR_INST_RETIRED.CALL", "BR_INST_RETIRED.REL_CALL"}},
    {K::returns, {"BR_INST_RETIRED.NEAR_RETURN", "BR_INST_RETIRED.RETURN"}},
    {K::mispredicted, {"BR_MISP_RETIRED.ALL_BRANCHES_PEBS", "BR_MISP_RETIRED.ALL_BRANCHES"}},
    {K::mispredicted_conditional,
     {"BR_MISP_RETIRED.COND", "BR_MISP_RETIRED.CONDITIONAL", "BR_MISP_RETIRED.JCC"}},
    {K::mispredicted_taken_conditional,
     {"BR_MISP_RETIRED.COND_TAKEN", "BR_MISP_RETIRED.TAKEN_JCC"}},
    {K::mispredicted_forward_conditional,
     {"BR_MISP_RETIRED.COND_TAKEN_FWD", "BR_MISP_RETIRED.COND_TAKEN_FWD_COST",
      "BR_MISP_RETIRED.COND_TAKEN_FWD_TPEBS"}},
    {K::mispredicted_backward_conditional,
     {"BR_MISP_RETIRED.COND_TAKEN_BWD", "BR_MISP_RETIRED.COND_TAKEN_BWD_COST",
      "BR_MISP_RETIRED.COND_TAKEN_BWD_TPEBS"}},
    {K::mispredicted_untaken_conditional,
     {"BR_MISP_RETIRED.COND_NTAKEN", "BR_MISP_RETIRED.NOT_TAKEN"}},
    {K::mispredicted_taken, {"BR_MISP_RETIRED.NEAR_TAKEN", "BR_MISP_RETIRED.TAKEN"}},
    {K::mispredicted_returns,
     {"BR_MISP_RETIRED.RET", "BR_MISP_RETIRED.RETURN", "BR_MISP_RETIRED.NEAR_RETURN"}},
    {K::repetitions, {"INST_RETIRED.REP_ITERATION"}},
    {K::float_divisions, {"UOPS_RETIRED.FPDIV"}},
    {K::divisions, {"UOPS_RETIRED.IDIV", "ARITH.DIV", "ARITH.FPU_DIV"}},
    {K::divider_uops, {"ARITH.DIVIDER_UOPS"}},
    {K::divider_cycles,
     {"ARITH.DIVIDER_ACTIVE", "ARITH.DIV_ACTIVE", "ARITH.IDIV_ACTIVE", "ARITH.CYCLES_DIV_BUSY",
      "ARITH.FPU_DIV_ACTIVE", "CYCLES_DIV_BUSY.ALL", "CYCLES_DIV_BUSY.IDIV"}},
    {K::prefetches, {"SW_PREFETCH_ACCESS.T0", "SW_PREFETCH.T0"}},
});

/// Names of Intel's events of which each such instruction that retires causes exactly one.
/// MEM_UOPS_RETIRED counts uops, so that no instruction is certain to cause one.
constexpr std::array<std::string_view, 13> kOnce{
    "INST_RETIRED.ANY_P",           "INST_RETIRED.ANY",
    "INST_RETIRED.PREC_DIST",       "MEM_INST_RETIRED.ALL_LOADS",
    "MEM_INST_RETIRED.LOADS",       "MEM_INST_RETIRED.ALL_STORES",
    "MEM_INST_RETIRED.STORES",      "BR_INST_RETIRED.ALL_BRANCHES_PEBS",
    "BR_INST_RETIRED.ALL_BRANCHES", "BR_INST_RETIRED.COND",
    "BR_INST_RETIRED.CONDITIONAL",  "BR_INST_RETIRED.JCC",
    "BR_INST_RETIRED.NEAR_TAKEN"};

/// Names of libpfm4 and of perf, families 17h, 19h and 1Ah.
constexpr auto kAmd = std::to_array<Meaning>({
    {K::cycles, {"CYCLES_NOT_IN_HALT", "LS_NOT_HALTED_CYC"}},
    {K::instructions,
     {"RETIRED_INSTRUCTIONS", "RETIRED_OPS", "RETIRED_UOPS", "EX_RET_INSTR", "EX_RET_OPS",
      "EX_RET_COPS"}},
    {K::loads, {"LS_DISPATCH.LD_DISPATCH"}},
    {K::stores, {"LS_DISPATCH.STORE_DISPATCH"}},
    {K::locked_loads, {"RETIRED_LOCK_INSTRUCTIONS.CACHEABLE_LOCKS"}},
    {K::l2_hits, {"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM.LCL_L2", "LS_DMND_FILLS_FROM_SYS.LOCAL_L2"}},
    {K::l3_hits,
     {"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM.LOCAL_CCX", "LS_DMND_FILLS_FROM_SYS.LOCAL_CCX"}},
    {K::local_memory,
     {"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM.DRAM_IO_NEAR",
      "DATA_CACHE_REFILLS_FROM_SYSTEM.LS_MABRESP_LCL_DRAM", "LS_DMND_FILLS_FROM_SYS.DRAM_IO_NEAR"}},
    {K::branches, {"RETIRED_BRANCH_INSTRUCTIONS", "EX_RET_BRN"}},
    {K::conditional_branches, {"RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS", "EX_RET_COND"}},
    {K::taken_branches, {"RETIRED_TAKEN_BRANCH_INSTRUCTIONS", "EX_RET_BRN_TKN"}},
    {K::returns, {"RETIRED_NEAR_RETURNS", "EX_RET_NEAR_RET"}},
    {K::mispredicted, {"RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", "EX_RET_BRN_MISP"}},
    {K::mispredicted_conditional,
     {"RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS_MISPREDICTED", "EX_RET_COND_MISP"}},
    {K::mispredicted_taken,
     {"RETIRED_TAKEN_BRANCH_INSTRUCTIONS_MISPREDICTED", "EX_RET_BRN_TKN_MISP"}},
    {K::mispredicted_returns, {"RETIRED_NEAR_RETURNS_MISPREDICTED", "EX_RET_NEAR_RET_MISPRED"}},
    {K::divisions, {"DIV_OP_COUNT", "EX_DIV_COUNT"}},
    {K::divider_cycles, {"DIV_CYCLES_BUSY_COUNT", "EX_DIV_BUSY"}},
    {K::prefetches,
     {"PREFETCH_INSTRUCTIONS_DISPATCHED.PREFETCH_T0_T1_T2", "LS_PREF_INSTR_DISP.PREFETCH"}},
    {K::flushes, {"RETIRED_CLFLUSH_INSTRUCTIONS", "LS_RET_CL_FLUSH"}},
    {K::cpuids, {"RETIRED_CPUID_INSTRUCTIONS", "LS_RET_CPUID"}},
});

/// Names of the Arm architecture's common events (PMUv3), which all cores share.
constexpr auto kArm = std::to_array<Meaning>({
    {K::cycles, {"CPU_CYCLES"}},
    {K::instructions, {"INST_RETIRED"}},
    {K::loads, {"LD_RETIRED", "MEM_ACCESS_RD", "DATA_MEM_READ_ACCESS", "LD_SPEC"}},
    {K::l3_misses, {"LL_CACHE_MISS_RD", "LAST_LEVEL_CACHE_MISS_READ"}},
    {K::l1_misses, {"L1D_CACHE_REFILL_RD"}},
    {K::l2_misses, {"L2D_CACHE_REFILL_RD"}},
    {K::stores, {"ST_RETIRED", "MEM_ACCESS_WR", "DATA_MEM_WRITE_ACCESS", "ST_SPEC"}},
    {K::branches, {"BR_RETIRED", "BR_PRED"}},
    {K::taken_branches, {"BR_TAKEN_RETIRED", "PC_WRITE_RETIRED"}},
    {K::returns, {"BR_RETURN_RETIRED"}},
    {K::mispredicted, {"BR_MIS_PRED_RETIRED", "BR_MIS_PRED"}},
});

/// Families of Intel's events that any instruction causes, except those whose names define the
/// causes (causes_by_name): operations at retirement, and how the instruction was fetched.
constexpr std::array<std::string_view, 5> kOfAnyInstruction{
    "INST_RETIRED", "UOPS_RETIRED", "TOPDOWN_RETIRING", "FRONTEND_RETIRED", "ITLB_MISS_RETIRED"};

bool is_of_any_instruction(const Event& event) {
  const std::string name = normalized(event.name);
  // A value without a name follows the family after a space.
  const std::string family = name.substr(0, name.find_first_of(". "));
  return contains(kOfAnyInstruction, family);
}

std::span<const Meaning> meanings_of(ConfigLayout layout) {
  if (layout == ConfigLayout::intel) return kIntel;
  if (layout == ConfigLayout::amd) return kAmd;
  return kArm;
}

struct Found {
  Counted counted = Counted::other;
  std::string_view name = {};
  int place = std::numeric_limits<int>::max();  ///< number of the name in its table
};

Found find(const Event& event) {
  std::vector<std::string> wanted{normalized(event.name)};
  for (const std::string& alias : event.aliases) wanted.push_back(normalized(alias));
  int place = 0;
  for (const Meaning& meaning : meanings_of(event.layout)) {
    for (const std::string_view name : meaning.names) {
      if (!name.empty() && contains(wanted, name)) return {meaning.counted, name, place};
      ++place;
    }
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
  const Counted counted = find(event).counted;
  const bool is_other = counted == K::other && event.layout == ConfigLayout::intel;
  if (!is_other || !is_of_any_instruction(event)) return counted;
  const bool has_causes = std::ranges::any_of(
      causes_of(event), [](const Cause& cause) { return cause.verdict != Verdict::unknown; });
  return has_causes ? K::other : K::any_instruction;
}

std::optional<Counted> caused_once_by(const Event& event) {
  constexpr std::uint64_t kEventAndUmask = 0xffff;
  if ((event.config & ~kEventAndUmask) != 0 || event.config1 != 0) return std::nullopt;
  const Found found = find(event);
  return contains(kOnce, found.name) ? std::optional(found.counted) : std::nullopt;
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
