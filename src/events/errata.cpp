#include "src/events/errata.h"

#include "src/events/event.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace skid::events {

namespace {

constexpr std::string_view kSmt =
    "with SMT on, counts may be too low, or include events of the sibling thread";
constexpr std::string_view kOneMode =
    "counting only user or only kernel mode (:u, :k) gives wrong counts and PEBS records at the "
    "wrong instruction; count both";

/// The effect of an erratum, by its id in an event file.
struct Effect {
  std::string_view id, effect;
};
constexpr std::array<Effect, 7> kEffects{{
    {"HSD29", kSmt},
    {"HSM30", kSmt},
    {"HSD25",
     "counts may be wrong by up to 40%, and PEBS records written at the wrong instruction"},
    {"HSM26",
     "counts may be wrong by up to 40%, and PEBS records written at the wrong instruction"},
    {"BDM100",
     "counts may be wrong by up to 20%, and PEBS records written at the wrong instruction"},
    {"HSD76", "locked accesses that hit the L2 may not be counted"},
    {"BDM35", "locked accesses that hit the L2 may not be counted"},
}};

/// Errata that the event files leave out.
struct Unlisted {
  Core core;
  std::string_view ids, effect;
  std::array<std::uint64_t, 8> configs;  ///< padded with 0
};
/// MEM_LOAD_(UOPS_)RETIRED and locked loads. The source lists L1_MISS twice; one is assumed to be
/// L2_MISS.
constexpr std::array<std::uint64_t, 8> kOfOneMode{0x21d0, 0x02d1, 0x04d1, 0x08d1,
                                                  0x10d1, 0x20d1, 0x40d1};
constexpr std::array<Unlisted, 4> kUnlisted{{
    {Core::ivy_bridge,
     "BV98, BU101, BW98, CA93, CF89",
     kSmt,
     {0x81d0, 0x21d0, 0x40d1, 0x01d1, 0x02d1, 0x04d1, 0x10d1, 0x20d1}},
    {Core::haswell, "HSD169, HSM179", kOneMode, kOfOneMode},
    {Core::broadwell, "BDD113", kOneMode, kOfOneMode},
    {Core::skylake, "SKL128, SKW118, KBL073, KBW73, Coffee Lake 070", kOneMode, kOfOneMode},
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

std::vector<Erratum> errata_of(const Event& event) {
  std::vector<Erratum> errata;
  const auto add = [&errata](std::string_view ids, std::string_view effect) {
    if (Erratum* same = find_by(errata, &Erratum::effect, effect)) {
      same->ids += fmt::format(", {}", ids);
      return;
    }
    errata.push_back({.ids = std::string(ids),
                      .effect = effect,
                      .of_one_mode = effect == kOneMode,
                      .of_smt = effect == kSmt});
  };
  for (const std::string& id : event.errata) {
    const Effect* known = find_by(kEffects, &Effect::id, id);
    add(id, known == nullptr ? std::string_view() : known->effect);
  }
  for (const Unlisted& unlisted : kUnlisted) {
    const auto& configs = unlisted.configs;
    const bool listed = contains(configs, event.config);
    if (unlisted.core == event.core && event.config != 0 && listed)
      add(unlisted.ids, unlisted.effect);
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

std::string manual_error(const L2Requests& requests) {
  const auto corrected = corrected_umask(requests.umask);
  if (!corrected) return {};
  return fmt::format("manuals give umask 0x{:02x} for what 0x{:02x} counts (r{:02x}24)",
                     requests.umask, *corrected, *corrected);
}

std::optional<std::uint8_t> corrected_umask(std::uint8_t umask) {
  if (umask == 0x41 || umask == 0x42 || umask == 0x44)
    return static_cast<std::uint8_t>(umask | 0x80);
  return umask == 0xef ? std::optional<std::uint8_t>(0xff) : std::nullopt;
}

}  // namespace skid::events
