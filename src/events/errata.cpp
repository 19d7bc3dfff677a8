#include "src/events/errata.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace skid::events {

namespace {

constexpr std::uint64_t kAllLoads = 0x81d0, kLockLoads = 0x21d0, kL1Hit = 0x01d1, kL2Hit = 0x02d1,
                        kL3Hit = 0x04d1, kL1Miss = 0x08d1, kL2Miss = 0x10d1, kL3Miss = 0x20d1,
                        kHitLfb = 0x40d1;

constexpr std::string_view kSmt =
    "with SMT on, counts may be too low, or events of the sibling be counted here";
constexpr std::string_view kStale40 =
    "counts may be wrong by up to 40%, and PEBS records written at the wrong instruction";
constexpr std::string_view kStale20 =
    "counts may be wrong by up to 20%, and PEBS records written at the wrong instruction";
constexpr std::string_view kOneMode =
    "counting only user or only kernel mode (:u, :k) gives wrong counts and PEBS records at the "
    "wrong instruction; count both";
constexpr std::string_view kLockedHits = "locked accesses that hit the L2 may not be counted";

struct Entry {
  Core core;
  std::string_view ids, effect;
  std::array<std::uint64_t, 8> configs;  ///< padded with 0
};

/// The source lists L1_MISS twice under HSD169 and similar errata; one is assumed to be L2_MISS.
constexpr std::array<std::uint64_t, 8> kOfOneMode{kLockLoads, kL2Hit,  kL3Hit, kL1Miss,
                                                  kL2Miss,    kL3Miss, kHitLfb};
constexpr std::array<std::uint64_t, 8> kOfSmt{kAllLoads, kLockLoads, kHitLfb, kL1Hit,
                                              kL2Hit,    kL3Hit,     kL2Miss, kL3Miss};
constexpr std::array<std::uint64_t, 8> kOfStale{kL3Hit, kL3Miss};
constexpr std::array<std::uint64_t, 8> kOfLockedHits{kL2Hit, kLockLoads};

constexpr std::array<Entry, 10> kEntries{{
    {Core::ivy_bridge, "BV98, BU101, BW98, CA93, CF89", kSmt, kOfSmt},
    {Core::haswell, "HSD29, HSM30, HSW29", kSmt, kOfSmt},
    {Core::haswell, "HSD25, HSM26, HSX51", kStale40, kOfStale},
    {Core::haswell, "HSE114", kStale20, kOfStale},
    {Core::broadwell, "BDM100, BDH74, BDE103, BDW85, BDF87, BDX84", kStale20, kOfStale},
    {Core::haswell, "HSD169, HSM179", kOneMode, kOfOneMode},
    {Core::broadwell, "BDD113", kOneMode, kOfOneMode},
    {Core::skylake, "SKL128, SKW118, KBL073, KBW73, Coffee Lake 070", kOneMode, kOfOneMode},
    {Core::haswell, "HSD76, HSM77, HSW76", kLockedHits, kOfLockedHits},
    {Core::broadwell, "BDH33, BDD35, BDE33, BDW35, BDF33, BDX32", kLockedHits, kOfLockedHits},
}};

struct Bit {
  std::uint8_t mask;
  std::string_view meaning;
};

constexpr std::array<Bit, 5> kOrigins{{{0x01, "demand data read"},
                                       {0x02, "read for ownership, PREFETCHW included"},
                                       {0x04, "code read"},
                                       {0x08, "L1 prefetcher or software load prefetch"},
                                       {0x10, "L2 prefetcher"}}};
constexpr std::array<Bit, 3> kResults{{{0x20, "miss"},
                                       {0x40, "hit on a line that is exclusive or shared"},
                                       {0x80, "hit on a modified line"}}};
constexpr std::uint64_t kEvent = 0x24;

template <std::size_t N>
std::vector<std::string_view> meanings(const std::array<Bit, N>& bits, std::uint8_t umask) {
  std::vector<std::string_view> meanings;
  for (const Bit& bit : bits) {
    if ((umask & bit.mask) != 0) meanings.push_back(bit.meaning);
  }
  return meanings;
}

}  // namespace

std::vector<Erratum> errata_of(Core core, std::uint64_t config) {
  std::vector<Erratum> errata;
  if (config == 0) return errata;
  for (const Entry& entry : kEntries) {
    if (entry.core != core) continue;
    if (std::find(entry.configs.begin(), entry.configs.end(), config) == entry.configs.end())
      continue;
    errata.push_back({.ids = entry.ids,
                      .effect = entry.effect,
                      .of_one_mode = entry.effect == kOneMode,
                      .of_smt = entry.effect == kSmt});
  }
  return errata;
}

std::optional<L2Requests> l2_requests(Core core, std::uint64_t config) {
  const bool known = core == Core::haswell || core == Core::broadwell || core == Core::skylake ||
                     core == Core::skylake_server;
  if (!known || (config & 0xff) != kEvent) return std::nullopt;
  const auto umask = static_cast<std::uint8_t>(config >> 8 & 0xff);
  return L2Requests{umask, meanings(kOrigins, umask), meanings(kResults, umask)};
}

std::optional<std::uint8_t> corrected_umask(std::uint8_t umask) {
  switch (umask) {
    case 0x41:
      return 0xc1;
    case 0x42:
      return 0xc2;
    case 0x44:
      return 0xc4;
    case 0xef:
      return 0xff;
    default:
      return std::nullopt;
  }
}

}  // namespace skid::events
