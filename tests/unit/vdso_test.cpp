// The code that the kernel gives every process, read from this very process.
#include "src/symbols/module.h"

#include <gtest/gtest.h>

namespace skid::symbols {
namespace {

TEST(RunningVdso, HasTheClockAndABuildId) {
  const auto vdso = running_vdso();
  if (!vdso) GTEST_SKIP() << "this kernel gives no vdso";
#ifdef __aarch64__
  constexpr const char* kClock = "__kernel_clock_gettime";
#else
  constexpr const char* kClock = "__vdso_clock_gettime";
#endif
  const auto clock = vdso->functions_named(kClock);
  ASSERT_FALSE(clock.empty());
  EXPECT_GT(clock.front().range.size(), 0u);
  EXPECT_FALSE(vdso->code(clock.front().range).empty());
  EXPECT_EQ(vdso->build_id().size(), 40u);
}

}  // namespace
}  // namespace skid::symbols
