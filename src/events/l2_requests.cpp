#include "src/events/l2_requests.h"

#include <array>

namespace skid::events {
namespace {

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
