#include "analysis/wording.h"

#include "analysis/contract.h"
#include "tests/support/prelude.h"

#include <cstdint>
#include <limits>

namespace skid::analysis {
namespace {

TEST(Percent, ShowsEnoughDigitsNotToLookLikeALandmark) {
  EXPECT_EQ(percent(0.0), "0%");
  EXPECT_EQ(percent(1.0), "100%");
  EXPECT_EQ(percent(0.12345), "12.35%");
  EXPECT_EQ(percent(0.99998), "99.998%");
  EXPECT_EQ(percent(0.00001), "0.001%");
  EXPECT_EQ(percent(0.9989998), "99.89998%");
  EXPECT_EQ(percent(kRequiredShare), "99.90%");
}

TEST(PText, IsNeverZero) {
  EXPECT_EQ(p_text(0.0123), "p 0.012");
  EXPECT_EQ(p_text(1e-25), "p 1e-25");
  EXPECT_EQ(p_text(0), "p < 1e-300");
}

TEST(InThousands, GroupsDigitsByThree) {
  EXPECT_EQ(in_thousands(std::uint64_t{0}), "0");
  EXPECT_EQ(in_thousands(std::uint64_t{999}), "999");
  EXPECT_EQ(in_thousands(std::uint64_t{1000}), "1,000");
  EXPECT_EQ(in_thousands(std::uint64_t{1'234'567}), "1,234,567");
  EXPECT_EQ(in_thousands(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
  EXPECT_EQ(in_thousands("-123"), "-123");
  EXPECT_EQ(in_thousands("-1234"), "-1,234");
}

}  // namespace
}  // namespace skid::analysis
