#include "src/events/causes.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace skid::events {
namespace {

using C = Category;
using V = Verdict;

// verdict_on() takes the smallest.
static_assert(V::can < V::conditional && V::conditional < V::maybe && V::maybe < V::unknown &&
              V::unknown < V::never);

/// Sets of cores, a bit each.
using Cores = unsigned;
constexpr Cores kIvb = 1, kHsw = 2, kBdw = 4, kSkl = 8;
constexpr Cores kUops = kIvb | kHsw | kBdw;
constexpr Cores kAll = kUops | kSkl;

Cores bit_of(Core core) {
  switch (core) {
    case Core::ivy_bridge:
      return kIvb;
    case Core::haswell:
      return kHsw;
    case Core::broadwell:
      return kBdw;
    case Core::skylake:
      return kSkl;
    default:
      return 0;
  }
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

Loads load_event(std::uint64_t config) {
  switch (config) {
    case 0x81d0:
      return kAllLoads;
    case 0x21d0:
      return kLockLoads;
    case 0x01d1:
      return kL1Hit;
    case 0x02d1:
      return kL2Hit;
    case 0x04d1:
      return kL3Hit;
    case 0x08d1:
      return kL1Miss;
    case 0x10d1:
      return kL2Miss;
    case 0x20d1:
      return kL3Miss;
    case 0x40d1:
      return kHitLfb;
    default:
      return 0;
  }
}

struct Rule {
  Cores cores;
  Loads events;
  Category category;
  Verdict verdict;
  std::string_view note;
};

constexpr std::string_view kServed = "when this serves the access";
constexpr std::string_view kMissed = "when the access misses there";
constexpr std::string_view kOne = "1 event";
constexpr std::string_view kAtMostOne = "at most 1 event";
constexpr std::string_view kAtMostTwo = "at most 2 events";
constexpr std::string_view kSplitYmm =
    "the article says none, but not what 32-byte loads do that cross a line";

/// What is not here is unknown.
constexpr std::array kRules{
    // ALL_LOADS
    Rule{kAll, kAllLoads, C::gp_load, V::can, kOne},
    Rule{kAll, kAllLoads, C::xmm_load, V::can, kOne},
    Rule{kAll, kAllLoads, C::ymm_load, V::can, kOne},
    Rule{kAll, kAllLoads, C::prefetch, V::can, kOne},
    Rule{kAll, kAllLoads, C::locked_load, V::can, kOne},
    Rule{kAll, kAllLoads, C::nt_load, V::can, kOne},
    Rule{kUops, kAllLoads, C::io, V::can, kOne},
    Rule{kUops, kAllLoads, C::mfence, V::can, kOne},
    Rule{kUops, kAllLoads, C::cpuid, V::can, "2 events"},
    Rule{kUops, kAllLoads, C::str_load, V::can, "write-back memory: 2 events per cache line"},
    Rule{kSkl, kAllLoads, C::mfence, V::maybe, kAtMostOne},
    Rule{kSkl, kAllLoads, C::cpuid, V::maybe, kAtMostOne},
    Rule{kSkl, kAllLoads, C::str_load, V::can, "cacheable memory: 1 event"},

    // Hits: which level served the access.
    Rule{kAll, kHits, C::gp_load, V::conditional, kServed},
    Rule{kAll, kHits, C::xmm_load, V::conditional, kServed},
    Rule{kAll, kHits, C::nt_load, V::conditional, kServed},
    Rule{kAll, kHits, C::str_load, V::conditional, kServed},
    Rule{kHsw | kBdw | kSkl, kHits, C::ymm_load, V::conditional, kServed},
    Rule{kIvb, kL1Hit, C::ymm_load, V::conditional,
         "L1 hits, and L1 misses that hit no fill buffer"},
    Rule{kIvb, kHitLfb, C::ymm_load, V::conditional, kServed},
    Rule{kIvb, kFurtherHits, C::ymm_load, V::unknown, kSplitYmm},
    Rule{kAll, kL1Hit, C::locked_load, V::conditional, "write-back memory: 1 event"},
    Rule{kAll, kL1Hit, C::prefetch, V::conditional, "cacheable memory: 1 event, hit or miss"},
    Rule{kUops, kHits, C::mfence, V::maybe, kAtMostOne},
    Rule{kUops, kHits, C::cpuid, V::maybe, kAtMostTwo},

    // Misses: at this level and all before it.
    Rule{kAll, kMisses, C::gp_load, V::conditional, kMissed},
    Rule{kAll, kMisses, C::xmm_load, V::conditional, kMissed},
    Rule{kAll, kMisses, C::nt_load, V::conditional, kMissed},
    Rule{kAll, kMisses, C::str_load, V::conditional, kMissed},
    Rule{kHsw | kBdw | kSkl, kMisses, C::ymm_load, V::conditional, kMissed},
    Rule{kIvb, kMisses, C::ymm_load, V::conditional, "uncacheable memory only"},
    Rule{kAll, kMisses, C::locked_load, V::maybe, "other than write-back memory"},
    Rule{kUops, kL1Miss | kL2Miss, C::mfence, V::can, kOne},
    Rule{kUops, kL3Miss, C::mfence, V::maybe, kAtMostOne},
    Rule{kUops, kL1Miss | kL2Miss, C::cpuid, V::can, "2 events"},
    Rule{kUops, kL3Miss, C::cpuid, V::maybe, kAtMostTwo},
    Rule{kUops, kL1Miss | kL2Miss, C::io, V::can, kOne},
    Rule{kUops, kL3Miss, C::io, V::maybe, "OUT: at most 1 event"},

    // Skylake: MFENCE and CPUID cause no other event than ALL_LOADS, IN and OUT none at all.
    Rule{kSkl, kLevels, C::mfence, V::never, {}},
    Rule{kSkl, kLevels, C::cpuid, V::never, {}},
    Rule{kSkl, kEvery, C::io, V::never, {}},

    // LOCK_LOADS: "only LOCK-prefixed instructions may cause" it.
    Rule{kAll, kLockLoads, C::locked_load, V::can, kOne},
    Rule{kAll, kLockLoads, C::gp_load, V::never, {}},
    Rule{kAll, kLockLoads, C::xmm_load, V::never, {}},
    Rule{kAll, kLockLoads, C::ymm_load, V::never, {}},
    Rule{kAll, kLockLoads, C::str_load, V::never, {}},
    Rule{kAll, kLockLoads, C::prefetch, V::never, {}},
    Rule{kUops, kLockLoads, C::io, V::never, {}},
    Rule{kAll, kLockLoads, C::nt_load, V::never, {}},
    Rule{kAll, kLockLoads, C::mfence, V::never, {}},
    Rule{kUops, kLockLoads, C::cpuid, V::never, {}},

    // What loads nothing; CLFLUSH and CLFLUSHOPT were tested.
    Rule{kAll, kEvery, C::store, V::never, {}},
    Rule{kAll, kEvery, C::branch, V::never, {}},
    Rule{kAll, kEvery, C::div, V::never, {}},
    Rule{kAll, kEvery, C::flush, V::never, {}},
    Rule{kAll, kEvery, C::lea, V::never, {}},
    Rule{kAll, kEvery, C::nop, V::never, {}},
    Rule{kAll, kEvery, C::no_memory, V::never, {}},
};

}  // namespace

std::vector<Cause> causes_of(Core core, std::uint64_t config) {
  std::vector<Cause> causes;
  causes.reserve(instructions::kCategories.size());
  for (const Category category : instructions::kCategories) {
    causes.push_back({category, Verdict::unknown, {}});
  }
  const Cores cores = bit_of(core);
  const Loads event = load_event(config);
  for (const Rule& rule : kRules) {
    if ((rule.cores & cores) == 0 || (rule.events & event) == 0) continue;
    Cause& cause = causes[static_cast<std::size_t>(rule.category)];
    cause = {rule.category, rule.verdict, rule.note};
  }
  // What is known is known of x86-64 CPUs, whose instructions are never called that.
  std::erase_if(causes, [](const Cause& cause) { return cause.category == Category::load; });
  return causes;
}

Verdict verdict_on(std::span<const Cause> causes, const Categories& categories) {
  if (categories.empty()) return Verdict::unknown;
  Verdict verdict = Verdict::never;
  for (const Category category : instructions::kCategories) {
    if (!categories.contains(category)) continue;
    const auto cause = std::find_if(causes.begin(), causes.end(),
                                    [&](const Cause& one) { return one.category == category; });
    verdict = std::min(verdict, cause == causes.end() ? Verdict::unknown : cause->verdict);
  }
  return verdict;
}

std::string_view counting_unit(Core core, std::uint64_t config) {
  if (load_event(config) == 0) return {};
  const Cores cores = bit_of(core);
  if ((cores & kUops) != 0) return "uops";
  return cores == kSkl ? "instructions" : "";
}

}  // namespace skid::events
