#include "src/events/cache_events.h"

#include "src/support/text.h"

#include <array>
#include <cstddef>
#include <string>

namespace skid::events {
namespace {

struct Cache {
  std::string_view name;  ///< what its events' names begin with
  std::uint64_t config;
};
constexpr std::array<Cache, 7> kCaches{{{"l1-dcache", 0},
                                        {"l1-icache", 1},
                                        {"llc", 2},
                                        {"dtlb", 3},
                                        {"itlb", 4},
                                        {"branch", 5},
                                        {"node", 6}}};
constexpr std::array<Cache, 6> kAccesses{{{"-loads", 0},
                                          {"-stores", 0x100},
                                          {"-prefetches", 0x200},
                                          {"-load-misses", 0x1'0000},
                                          {"-store-misses", 0x1'0100},
                                          {"-prefetch-misses", 0x1'0200}}};

/// The events of kCodes, in the order of its columns.
constexpr std::array<std::uint64_t, 16> kColumns{
    0x0'0000, 0x1'0000, 0x0'0100, 0x1'0100, 0x0'0200, 0x1'0200,  // L1d: loads, stores, prefetches
    0x0'0001, 0x1'0001,                                          // L1i: loads
    0x0'0003, 0x1'0003, 0x0'0103, 0x1'0103,                      // dTLB: loads, stores
    0x0'0004, 0x1'0004,                                          // iTLB: loads
    0x0'0005, 0x1'0005};                                         // branches

/// The codes of the cores `first` to `last`, accesses before misses; 0: the cores have none.
struct Codes {
  Core first, last;
  std::array<std::uint64_t, kColumns.size()> codes;
};
// clang-format off
constexpr std::array kCodes{
    Codes{Core::core_2, Core::core_2,
          {0x0f40, 0x0140, 0x0f41, 0x0141, 0x104e, 0, 0x0080, 0x0081,
           0x0f40, 0x0208, 0x0f41, 0x0808, 0x00c0, 0x1282, 0x00c4, 0x00c5}},
    Codes{Core::nehalem, Core::nehalem,
          {0x010b, 0x0151, 0x020b, 0x0251, 0x014e, 0x024e, 0x0380, 0x0280,
           0x0f40, 0x0108, 0x0f41, 0x010c, 0x01c0, 0x20c8, 0x00c4, 0x03e8}},
    Codes{Core::westmere, Core::westmere,
          {0x010b, 0x0151, 0x020b, 0x0251, 0x014e, 0x024e, 0x0380, 0x0280,
           0x010b, 0x0108, 0x020b, 0x010c, 0x01c0, 0x0185, 0x00c4, 0x03e8}},
    Codes{Core::sandy_bridge, Core::sandy_bridge,
          {0xf1d0, 0x0151, 0xf2d0, 0x0851, 0, 0x024e, 0, 0x0280,
           0x81d0, 0x0108, 0x82d0, 0x0149, 0x1085, 0x0185, 0x00c4, 0x00c5}},
    Codes{Core::ivy_bridge, Core::ivy_bridge,
          {0xf1d0, 0x0151, 0xf2d0, 0x0851, 0, 0x024e, 0, 0x0280,
           0x81d0, 0x8108, 0x82d0, 0x0149, 0x1085, 0x0185, 0x00c4, 0x00c5}},
    Codes{Core::haswell, Core::broadwell,
          {0x81d0, 0x0151, 0x82d0, 0, 0, 0, 0, 0x0280,
           0x81d0, 0x0108, 0x82d0, 0x0149, 0x6085, 0x0185, 0x00c4, 0x00c5}},
    Codes{Core::skylake, Core::skylake_server,
          {0x81d0, 0x0151, 0x82d0, 0, 0, 0, 0, 0x0283,
           0x81d0, 0x0e08, 0x82d0, 0x0e49, 0x2085, 0x0e85, 0x00c4, 0x00c5}},
    Codes{Core::icelake, Core::icelake,
          {0x81d0, 0x0151, 0x82d0, 0, 0, 0, 0, 0x0283,
           0x81d0, 0x0e08, 0x82d0, 0x0e49, 0, 0x0e85, 0x00c4, 0x00c5}},
    Codes{Core::golden_cove, Core::coyote_cove,
          {0x81d0, 0xe124, 0x82d0, 0, 0, 0, 0, 0xe424,
           0x81d0, 0x0e12, 0x82d0, 0x0e13, 0, 0x0e11, 0x04c4, 0x04c5}},
    Codes{Core::bonnell, Core::bonnell,
          {0x2140, 0, 0x2240, 0, 0, 0, 0x0380, 0x0280,
           0x2140, 0x0508, 0x2240, 0x0608, 0x00c0, 0x0282, 0x00c4, 0x00c5}},
    Codes{Core::silvermont, Core::knights_landing,
          {0, 0x0104, 0, 0, 0, 0, 0x0380, 0x0280,
           0, 0x0804, 0, 0, 0x00c0, 0x40205, 0x00c4, 0x00c5}},
    Codes{Core::goldmont, Core::goldmont,
          {0x81d0, 0, 0x82d0, 0, 0, 0, 0x0380, 0x0280,
           0x81d0, 0, 0x82d0, 0, 0x00c0, 0x0481, 0x00c4, 0x00c5}},
    Codes{Core::goldmont_plus, Core::goldmont_plus,
          {0x81d0, 0, 0x82d0, 0, 0, 0, 0x0380, 0x0280,
           0x81d0, 0x0e08, 0x82d0, 0x0e49, 0x00c0, 0x0481, 0x00c4, 0x00c5}},
    Codes{Core::tremont, Core::arctic_wolf,
          {0x81d0, 0, 0x82d0, 0, 0, 0, 0x0380, 0x0280,
           0x81d0, 0x0e08, 0x82d0, 0x0e49, 0, 0x0481, 0x00c4, 0x00c5}},
};
// clang-format on
/// amd_hw_cache_event_ids_f17h
constexpr Codes kZen{Core::other,
                     Core::other,
                     {0x0040, 0xc860, 0, 0, 0xff5a, 0, 0x0080, 0x0081, 0xff45, 0xf045, 0, 0, 0x0084,
                      0xff85, 0x00c2, 0x00c3}};

}  // namespace

std::optional<std::uint64_t> cache_event_config(std::string_view name) {
  const std::string wanted = lower_case(name);
  for (const Cache& cache : kCaches) {
    if (!wanted.starts_with(cache.name)) continue;
    const auto* access =
        find_by(kAccesses, &Cache::name, std::string_view(wanted).substr(cache.name.size()));
    if (access != nullptr) return cache.config | access->config;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> cache_event(Core core, ConfigLayout layout, std::uint64_t config) {
  constexpr std::uint64_t kEvent = 0xff'ffff;
  const Codes* found = layout == ConfigLayout::amd ? &kZen : nullptr;
  for (const Codes& codes : kCodes) {
    if (core >= codes.first && core <= codes.last) found = &codes;
  }
  if (found == nullptr) return std::nullopt;
  for (std::size_t column = 0; column < kColumns.size(); ++column) {
    const std::uint64_t code = found->codes.at(column);
    if (kColumns.at(column) == (config & kEvent) && code != 0) return code;
  }
  return std::nullopt;
}

}  // namespace skid::events
