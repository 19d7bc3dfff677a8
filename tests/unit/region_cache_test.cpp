#include "src/locate/region_cache.h"

#include "tests/support/prelude.h"

namespace skid::locate {
namespace {

/// The last time of all is in no region, as symbols::Region::until ends before it.
TEST(RegionCache, FindsTheMappingsOfTheLastTimeOfAll) {
  constexpr std::uint64_t kLastTime = UINT64_MAX;
  symbols::AddressSpaces spaces;
  spaces.map(5, 7, {0x1000, 0x3000}, 0, {"first", ""});
  spaces.map(kLastTime, 7, {0x2000, 0x3000}, 0x40, {"second", ""});
  spaces.seal();
  RegionCache cache(spaces);
  const auto place = [&](std::uint64_t ip, std::uint64_t time) {
    const auto& found = cache.find(AddressSpace(perfdata::CpuMode::user, 7), ip, time);
    return spaces.file(found.file).path + ' ' + std::to_string(ip + found.distance);
  };
  for (int i = 0; i < 2; ++i) {  // with nothing and with all of it in the cache
    EXPECT_EQ(place(0x1000, kLastTime), "first 0");
    EXPECT_EQ(place(0x2000, kLastTime - 1), "first 4096");
    EXPECT_EQ(place(0x2000, kLastTime), "second 64");
    EXPECT_EQ(place(0x2000, 5), "first 4096");
  }
}

}  // namespace
}  // namespace skid::locate
