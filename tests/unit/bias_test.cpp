#include "analysis/bias.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

TEST(Bias, IsPearsonsStatisticOfEvenShares) {
  struct Case {
    std::vector<std::uint64_t> samples;
    double chi_square, p;
    std::optional<double> ratio;
  };
  // p with two degrees of freedom is exp(-x / 2), with three erfc(sqrt(x / 2)) +
  // sqrt(2 x / pi) exp(-x / 2).
  for (const auto& [samples, chi_square, p, ratio] :
       {Case{{100, 100, 100, 100}, 0, 1, 1}, Case{{90, 110, 130, 70}, 20, 0.00016974, 130.0 / 70},
        Case{{30, 0, 30}, 30, 3.059e-7, {}}}) {
    std::vector<TriggerCount> triggers;
    for (const std::uint64_t count : samples) triggers.push_back({0, count});
    const auto bias = bias_of(triggers);
    ASSERT_TRUE(bias);
    EXPECT_DOUBLE_EQ(bias->chi_square, chi_square);
    EXPECT_EQ(bias->degrees, static_cast<int>(samples.size()) - 1);
    EXPECT_NEAR(bias->p / p, 1, 1e-3);
    EXPECT_EQ(bias->largest_ratio, ratio);
  }
}

TEST(Bias, NeedsTwoTriggersAndFiveSamplesOfEach) {
  const auto is_had = [](std::vector<TriggerCount> triggers) {
    return bias_of(triggers).has_value();
  };
  EXPECT_FALSE(is_had({{0, 1000}}));
  EXPECT_FALSE(is_had({}));
  EXPECT_FALSE(is_had({{0, 4}, {0, 5}}));
  EXPECT_TRUE(is_had({{0, 0}, {0, 10}}));
}

}  // namespace
}  // namespace skid::analysis
