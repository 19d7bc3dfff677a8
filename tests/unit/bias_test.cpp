#include "analysis/bias.h"

#include <vector>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

std::vector<TriggerCount> with_samples(const std::vector<std::uint64_t>& samples) {
  std::vector<TriggerCount> triggers;
  for (const std::uint64_t count : samples) triggers.push_back({0, count});
  return triggers;
}

TEST(Bias, OfEvenSharesIsNone) {
  const auto bias = bias_of(with_samples({100, 100, 100, 100}));
  ASSERT_TRUE(bias);
  EXPECT_DOUBLE_EQ(bias->chi_square, 0);
  EXPECT_EQ(bias->degrees, 3);
  EXPECT_DOUBLE_EQ(bias->p, 1);
  EXPECT_DOUBLE_EQ(*bias->largest_ratio, 1);
}

// With three degrees of freedom it is erfc(sqrt(x / 2)) + sqrt(2 x / pi) exp(-x / 2).
TEST(Bias, IsPearsonsStatistic) {
  const auto bias = bias_of(with_samples({90, 110, 130, 70}));
  ASSERT_TRUE(bias);
  EXPECT_DOUBLE_EQ(bias->chi_square, 20);
  EXPECT_NEAR(bias->p, 0.00016974, 1e-8);
  EXPECT_DOUBLE_EQ(*bias->largest_ratio, 130.0 / 70);
}

// With two degrees of freedom the distribution is exp(-x / 2).
TEST(Bias, HasNoRatioIfATriggerHasNoSamples) {
  const auto bias = bias_of(with_samples({30, 0, 30}));
  ASSERT_TRUE(bias);
  EXPECT_DOUBLE_EQ(bias->chi_square, 30);
  EXPECT_NEAR(bias->p, 3.059e-7, 1e-10);
  EXPECT_FALSE(bias->largest_ratio);
}

TEST(Bias, NeedsTwoTriggersAndFiveSamplesOfEach) {
  EXPECT_FALSE(bias_of(with_samples({1000})));
  EXPECT_FALSE(bias_of(with_samples({})));
  EXPECT_FALSE(bias_of(with_samples({4, 5})));
  EXPECT_TRUE(bias_of(with_samples({0, 10})));
}

}  // namespace
}  // namespace skid::analysis
