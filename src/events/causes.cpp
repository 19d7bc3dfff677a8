#include "src/events/causes.h"

#include "src/events/event.h"
#include "src/events/spelling.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::events {
namespace {

using C = Category;
using V = Verdict;
using Of = std::initializer_list<Category>;

// verdict_on() takes the smallest.
static_assert(V::can < V::conditional && V::conditional < V::maybe && V::maybe < V::unknown &&
              V::unknown < V::never);

/// Sets of cores, a bit each.
using Cores = unsigned;
constexpr Cores kIvb = 1, kHsw = 2, kBdw = 4, kSkl = 8;
constexpr Cores kUops = kIvb | kHsw | kBdw;
constexpr Cores kAll = kUops | kSkl;

constexpr std::array<std::pair<Core, Cores>, 4> kBitOfCore{{{Core::ivy_bridge, kIvb},
                                                            {Core::haswell, kHsw},
                                                            {Core::broadwell, kBdw},
                                                            {Core::skylake, kSkl}}};

/// 0 of a core that the rules do not have.
Cores bit_of(Core core) {
  const auto* found = find_by(kBitOfCore, &decltype(kBitOfCore)::value_type::first, core);
  return found == nullptr ? 0 : found->second;
}

/// Sets of load events, a bit each.
using Loads = unsigned;
constexpr Loads kAllLoads = 1, kL1Hit = 2, kL2Hit = 4, kL3Hit = 8, kHitLfb = 16, kL1Miss = 32,
                kL2Miss = 64, kL3Miss = 128, kLockLoads = 256;
constexpr Loads kFurtherHits = kL2Hit | kL3Hit;
constexpr Loads kHits = kL1Hit | kFurtherHits | kHitLfb;
constexpr Loads kMisses = kL1Miss | kL2Miss | kL3Miss;
constexpr Loads kLevels = kHits | kMisses;  ///< all but ALL_LOADS and LOCK_LOADS
constexpr Loads kEvery = kAllLoads | kLevels | kLockLoads;

struct LoadEvent {
  std::uint64_t config;
  Loads bit;
};
constexpr std::array<LoadEvent, 9> kLoadEvents{{{0x81d0, kAllLoads},
                                                {0x21d0, kLockLoads},
                                                {0x01d1, kL1Hit},
                                                {0x02d1, kL2Hit},
                                                {0x04d1, kL3Hit},
                                                {0x08d1, kL1Miss},
                                                {0x10d1, kL2Miss},
                                                {0x20d1, kL3Miss},
                                                {0x40d1, kHitLfb}}};

/// 0 for other events.
Loads load_event(std::uint64_t config) {
  const LoadEvent* found = find_by(kLoadEvents, &LoadEvent::config, config);
  return found == nullptr ? 0 : found->bit;
}

struct Rule {
  Cores cores;
  Loads events;
  Of categories;
  Verdict verdict;
  std::string_view note;
};
constexpr Of kLoading{C::gp_load, C::xmm_load, C::nt_load, C::str_load};
constexpr Of kYmm{C::ymm_load}, kString{C::str_load}, kIo{C::io}, kFence{C::mfence},
    kCpuid{C::cpuid}, kLocked{C::locked_load}, kPrefetch{C::prefetch};
constexpr Of kFenceAndCpuid{C::mfence, C::cpuid}, kIoAndFence{C::io, C::mfence};
constexpr Of kCountedLoads{C::gp_load,  C::xmm_load,    C::ymm_load,
                           C::prefetch, C::locked_load, C::nt_load};
constexpr Of kUnlocked{C::gp_load,  C::xmm_load, C::ymm_load, C::str_load,
                       C::prefetch, C::nt_load,  C::mfence};
constexpr Of kIoAndCpuid{C::io, C::cpuid};
constexpr Of kNoLoad{C::store, C::branch, C::div, C::flush, C::lea, C::nop, C::no_memory};

constexpr std::string_view kServed = "when this serves the access";
constexpr std::string_view kMissed = "when the access misses there";
constexpr std::string_view kOne = "1 event";
constexpr std::string_view kAtMostOne = "at most 1 event";
constexpr std::string_view kAtMostTwo = "at most 2 events";
constexpr std::string_view kSplitYmm =
    "the article says none, but not what 32-byte loads do that cross a line";

/// Combinations that are not listed here are unknown.
constexpr std::array kRules{
    // ALL_LOADS
    Rule{kAll, kAllLoads, kCountedLoads, V::can, kOne},
    Rule{kUops, kAllLoads, kIoAndFence, V::can, kOne},
    Rule{kUops, kAllLoads, kCpuid, V::can, "2 events"},
    Rule{kUops, kAllLoads, kString, V::can, "write-back memory: 2 events per cache line"},
    Rule{kSkl, kAllLoads, kFenceAndCpuid, V::maybe, kAtMostOne},
    Rule{kSkl, kAllLoads, kString, V::can, "cacheable memory: 1 event"},

    // Hits: which level served the access.
    Rule{kAll, kHits, kLoading, V::conditional, kServed},
    Rule{kHsw | kBdw | kSkl, kHits, kYmm, V::conditional, kServed},
    Rule{kIvb, kL1Hit, kYmm, V::conditional, "L1 hits, and L1 misses that hit no fill buffer"},
    Rule{kIvb, kHitLfb, kYmm, V::conditional, kServed},
    Rule{kIvb, kFurtherHits, kYmm, V::unknown, kSplitYmm},
    Rule{kAll, kL1Hit, kLocked, V::conditional, "write-back memory: 1 event"},
    Rule{kAll, kL1Hit, kPrefetch, V::conditional, "cacheable memory: 1 event, hit or miss"},
    Rule{kUops, kHits, kFence, V::maybe, kAtMostOne},
    Rule{kUops, kHits, kCpuid, V::maybe, kAtMostTwo},

    // Misses: at this level and all before it.
    Rule{kAll, kMisses, kLoading, V::conditional, kMissed},
    Rule{kHsw | kBdw | kSkl, kMisses, kYmm, V::conditional, kMissed},
    Rule{kIvb, kMisses, kYmm, V::conditional, "uncacheable memory only"},
    Rule{kAll, kMisses, kLocked, V::maybe, "other than write-back memory"},
    Rule{kUops, kL1Miss | kL2Miss, kIoAndFence, V::can, kOne},
    Rule{kUops, kL3Miss, kFence, V::maybe, kAtMostOne},
    Rule{kUops, kL1Miss | kL2Miss, kCpuid, V::can, "2 events"},
    Rule{kUops, kL3Miss, kCpuid, V::maybe, kAtMostTwo},
    Rule{kUops, kL3Miss, kIo, V::maybe, "OUT: at most 1 event"},

    // Skylake: MFENCE and CPUID cause no other event than ALL_LOADS, IN and OUT none at all.
    Rule{kSkl, kLevels, kFenceAndCpuid, V::never, {}},
    Rule{kSkl, kEvery, kIo, V::never, {}},

    // LOCK_LOADS: "only LOCK-prefixed instructions may cause" it.
    Rule{kAll, kLockLoads, kLocked, V::can, kOne},
    Rule{kAll, kLockLoads, kUnlocked, V::never, {}},
    Rule{kUops, kLockLoads, kIoAndCpuid, V::never, {}},

    // Instructions that load nothing; CLFLUSH and CLFLUSHOPT were tested.
    Rule{kAll, kEvery, kNoLoad, V::never, {}},
};

/// All knowledge is of x86-64 CPUs, whose instructions never are Category::load.
std::vector<Cause> without_arm(std::vector<Cause> causes) {
  std::erase_if(causes, [](const Cause& cause) { return cause.category == Category::load; });
  return causes;
}

// Causes of a retired event of Intel's, by the words of its name.

constexpr Of kLoads{C::gp_load,  C::xmm_load, C::ymm_load,   C::zmm_load,
                    C::str_load, C::nt_load,  C::locked_load};
/// Loads that Intel does not document, or documents for some cores only: loads of the stack and of
/// targets (retired load instructions by their definition), software prefetches, and microcode,
/// which was measured to load on some cores (the article of measured_causes()).
constexpr Of kDoubtfulLoads{C::other_load, C::prefetch, C::mfence, C::cpuid, C::io};
constexpr Of kNoAccess{C::branch, C::cond_branch,   C::jump,        C::indirect_jump,
                       C::call,   C::indirect_call, C::return_near, C::div,
                       C::vector, C::lea,           C::nop,         C::no_memory};
constexpr Of kBranches{C::cond_branch, C::jump,          C::indirect_jump,
                       C::call,        C::indirect_call, C::return_near};

/// Microcode, of which nothing else is known.
constexpr Of kMicrocode{C::mfence, C::cpuid, C::io, C::flush, C::other};

constexpr std::string_view kOtherBranches = "of other kinds";

class Table {
 public:
  Table() {
    for (const Category category : instructions::kCategories) {
      causes_.push_back({category, V::unknown, {}});
    }
  }
  void set_all_but_microcode(V verdict) {
    for (Cause& cause : causes_) {
      const bool is_known = std::ranges::find(kMicrocode, cause.category) == kMicrocode.end();
      if (is_known) cause.verdict = verdict;
    }
  }
  void set(Of categories, V verdict, std::string_view note = {}) {
    for (const Category category : categories) {
      causes_[static_cast<std::size_t>(category)] = {category, verdict, note};
    }
  }
  std::vector<Cause> take() { return std::move(causes_); }

 private:
  std::vector<Cause> causes_;
};

/// Whether one of `parts` is a part of the name between '.' and '_'.
bool has_part(std::string_view name, std::initializer_list<std::string_view> parts) {
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("._"), name.size());
    if (std::ranges::find(parts, name.substr(0, end)) != parts.end()) return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// Memory accesses of retired instructions or their micro-ops. `name`: all of it.
std::vector<Cause> of_memory(std::string_view family, std::string_view kind,
                             std::string_view name) {
  const bool prefetches = has_part(kind, {"SWPF"});
  const bool locked = kind == "LOCK_LOADS";
  const bool stores = has_part(kind, {"STORES", "STORE"}) || family == "MEM_STORE_RETIRED";
  const bool loads = !stores && (has_part(kind, {"LOADS", "LOAD", "LATENCY"}) ||
                                 has_part(name, {"LOAD", "UNCORE"}) || kind == "HITM");
  // All that have the access cause the event, or only those whose access goes a certain way.
  const bool all = is_one_of(
      kind, {"ALL_LOADS", "LOADS", "ALL_STORES", "STORES", "ANY", "ALL", "LOCK_LOADS", "ALL_SWPF"});
  const V some = all ? V::can : V::conditional;
  Table table;
  table.set(kNoAccess, V::never);
  table.set({C::store, C::prefetch}, V::never);
  table.set(kLoads, V::never);
  if (prefetches) {
    table.set({C::prefetch}, some);
    return table.take();
  }
  if (locked) {
    // XCHG with memory locks without the prefix.
    table.set({C::locked_load}, some);
    table.set({C::other_load}, V::maybe);
    return table.take();
  }
  if (!stores) {
    table.set(kDoubtfulLoads, V::maybe);
    table.set(kLoads, some);
  }
  if (!loads) {
    // Stores of the state of the processor, and to devices, are not documented.
    table.set({C::other_load}, stores ? V::never : V::maybe);
    table.set({C::store}, some);
    table.set({C::prefetch}, V::maybe);
  }
  return table.take();
}

/// The kinds of near branches that an event counts, by the last part of its name; none where the
/// part has no meaning here.
std::vector<Category> branches_of(std::string_view kind) {
  const auto is = [kind](std::initializer_list<std::string_view> names) {
    return is_one_of(kind, names);
  };
  if (is({"COND", "CONDITIONAL", "JCC", "COND_TAKEN", "COND_NTAKEN", "TAKEN_JCC", "NOT_TAKEN"})) {
    return {C::cond_branch};
  }
  if (is({"NEAR_CALL", "CALL"})) return {C::call, C::indirect_call};
  if (is({"REL_CALL", "NEAR_DIRECT_CALL", "DIRECT_NEAR_CALL"})) return {C::call};
  if (is({"IND_CALL", "INDIRECT_CALL", "NEAR_INDIRECT_CALL"})) return {C::indirect_call};
  if (is({"RET", "RETURN", "NEAR_RETURN"})) return {C::return_near};
  if (is({"INDIRECT_JMP", "NEAR_INDIRECT_JMP"})) return {C::indirect_jump};
  if (is({"REL_JMP", "NEAR_DIRECT_JMP"})) return {C::jump};
  if (is({"NEAR_JMP"})) return {C::jump, C::indirect_jump};
  if (is({"NON_RETURN_IND", "INDIRECT", "NEAR_INDIRECT"})) {
    return {C::indirect_jump, C::indirect_call};
  }
  if (is({"NEAR_INDIRECT_OR_RETURN"})) return {C::indirect_jump, C::indirect_call, C::return_near};
  if (is({"ALL_BRANCHES", "ALL_BRANCHES_PEBS", "NEAR_TAKEN", "TAKEN", "ALL_TAKEN_BRANCHES",
          "MISPRED"})) {
    return kBranches;
  }
  return {};
}

std::vector<Cause> of_branches(std::string_view kind, bool mispredicted) {
  for (const std::string_view variant : {"_PS", "_TPEBS", "_COST", "_R3", "_FWD", "_BWD"}) {
    if (kind.ends_with(variant)) kind.remove_suffix(variant.size());
  }
  const std::vector<Category> counted = branches_of(kind);
  Table table;
  if (counted.empty()) return table.take();
  const bool all = counted.size() == kBranches.size();
  // Interrupts, faults and system calls are far branches, and a transaction's abort is an indirect
  // one (Intel's event files); of these a sample can be anywhere. They are not mispredicted as near
  // branches are.
  const bool others_too = !mispredicted && is_one_of(kind, {"ALL_BRANCHES", "ALL_BRANCHES_PEBS",
                                                            "TAKEN", "ALL_TAKEN_BRANCHES"});
  const bool aborts_too = is_one_of(kind, {"INDIRECT", "NEAR_INDIRECT", "NEAR_INDIRECT_OR_RETURN"});
  if (!others_too && !aborts_too) {
    table.set_all_but_microcode(V::never);
    table.set({C::branch}, V::never, all ? std::string_view("far ones") : kOtherBranches);
  }
  const bool depends = mispredicted || has_part(kind, {"TAKEN", "NTAKEN"});
  for (const Category category : counted) table.set({category}, depends ? V::conditional : V::can);
  return table.take();
}

/// Some instructions of `category`, by their types and widths, can cause the event; no others can.
std::vector<Cause> of_some(Category category) {
  Table table;
  table.set_all_but_microcode(V::never);
  table.set({category}, V::conditional);
  return table.take();
}

/// Events of the families in which any instruction causes the others (docs/events.md).
std::vector<Cause> of_some_instructions(std::string_view name) {
  Table table;
  table.set_all_but_microcode(V::never);
  if (name == "INST_RETIRED.NOP") {
    table.set({C::nop}, V::can);
    table.set({C::prefetch}, V::maybe, "PREFETCHIT0, PREFETCHIT1");
  } else if (name == "INST_RETIRED.REP_ITERATION") {
    table.set({C::str_load, C::store}, V::conditional, "with a repetition prefix");
  } else if (name == "INST_RETIRED.MACRO_FUSED") {
    // Which one of the two instructions has the record is not documented.
    table.set({C::cond_branch, C::branch}, V::maybe, "fused with the instruction before it");
    table.set({C::no_memory, C::gp_load}, V::maybe, "fused with a conditional branch");
  } else {  // FRONTEND_RETIRED.UNKNOWN_BRANCH
    table.set(kBranches, V::conditional);
    table.set({C::branch}, V::maybe, "far ones");
  }
  return table.take();
}

std::vector<Cause> find_causes(std::string_view family, std::string_view kind,
                               std::string_view name) {
  if (is_one_of(family, {"MEM_INST_RETIRED", "MEM_UOPS_RETIRED", "MEM_TRANS_RETIRED",
                         "MEM_STORE_RETIRED", "MEM_UNCORE_RETIRED"}) ||
      (family.starts_with("MEM_LOAD_") && family.find("RETIRED") != std::string_view::npos)) {
    return of_memory(family, kind, name);
  }
  if (family == "BR_INST_RETIRED") return of_branches(kind, kind == "MISPRED");
  if (family == "BR_MISP_RETIRED") return of_branches(kind, true);
  if (is_one_of(family, {"FP_ARITH_INST_RETIRED", "FP_INST_RETIRED", "FP_FLOPS_RETIRED",
                         "SSEX_UOPS_RETIRED"}) ||
      is_one_of(name, {"INST_RETIRED.X87", "INST_RETIRED.MMX", "UOPS_RETIRED.X87"})) {
    return of_some(C::vector);
  }
  if (is_one_of(name, {"UOPS_RETIRED.FPDIV", "UOPS_RETIRED.IDIV"})) return of_some(C::div);
  if (is_one_of(name, {"INST_RETIRED.NOP", "INST_RETIRED.REP_ITERATION", "INST_RETIRED.MACRO_FUSED",
                       "FRONTEND_RETIRED.UNKNOWN_BRANCH"})) {
    return of_some_instructions(name);
  }
  return Table().take();
}

}  // namespace

std::vector<Cause> measured_causes(Core core, std::uint64_t config) {
  Table table;
  const Cores cores = bit_of(core);
  const Loads event = load_event(config);
  for (const Rule& rule : kRules) {
    if ((rule.cores & cores) == 0 || (rule.events & event) == 0) continue;
    table.set(rule.categories, rule.verdict, rule.note);
  }
  return without_arm(table.take());
}

std::vector<Cause> causes_of(const Event& event) {
  std::vector<Cause> causes = measured_causes(event.core, event.config);
  if (event.layout != ConfigLayout::intel) return causes;
  std::vector<Cause> defined = without_arm(causes_by_name(event.name));
  for (const std::string& alias : event.aliases) {
    const std::vector<Cause> of_alias = without_arm(causes_by_name(alias));
    for (std::size_t i = 0; i < defined.size(); ++i) {
      if (of_alias[i].verdict < defined[i].verdict) defined[i] = of_alias[i];
    }
  }
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (causes[i].verdict == Verdict::unknown) causes[i] = defined[i];
  }
  return causes;
}

Verdict verdict_on(std::span<const Cause> causes, const Categories& categories) {
  if (categories.empty()) return Verdict::unknown;
  Verdict verdict = Verdict::never;
  for (const Category category : instructions::kCategories) {
    if (!categories.contains(category)) continue;
    const Cause* cause = find_by(causes, &Cause::category, category);
    verdict = std::min(verdict, cause == nullptr ? Verdict::unknown : cause->verdict);
  }
  return verdict;
}

std::string_view counting_unit(const Event& event) {
  if (load_event(event.config) == 0) return {};
  const Cores cores = bit_of(event.core);
  if ((cores & kUops) != 0) return "uops";
  return cores == kSkl ? "instructions" : "";
}

std::vector<Cause> causes_by_name(std::string_view name) {
  const std::string whole = normalized(name);
  std::string_view kind = whole;
  const std::string_view family = take_until('.', kind);
  return find_causes(family, kind, whole);
}

}  // namespace skid::events
