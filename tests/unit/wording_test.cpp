#include "analysis/wording.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

TEST(InThousands, GroupsDigitsByThree) {
  EXPECT_EQ(in_thousands(std::uint64_t{0}), "0");
  EXPECT_EQ(in_thousands(std::uint64_t{999}), "999");
  EXPECT_EQ(in_thousands(std::uint64_t{1000}), "1,000");
  EXPECT_EQ(in_thousands(std::uint64_t{1'234'567}), "1,234,567");
  EXPECT_EQ(in_thousands(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(InThousands, KeepsTheSign) {
  EXPECT_EQ(in_thousands("-123"), "-123");
  EXPECT_EQ(in_thousands("-1234"), "-1,234");
}

}  // namespace
}  // namespace skid::analysis
