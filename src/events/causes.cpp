#include "src/events/causes.h"

#include "src/events/cause_table.h"
#include "src/events/event.h"
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

}  // namespace

std::vector<Cause> measured_causes(Core core, std::uint64_t config) {
  CauseTable table;
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

}  // namespace skid::events
