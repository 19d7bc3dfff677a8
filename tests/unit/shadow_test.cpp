#include "analysis/shadow.h"

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

using testing::ElementsAre;

/// Triggers with 0, 1, 2, 4 … 512 NOPs between them, and 5000 to the next iteration.
const std::vector<std::uint64_t> kDistances{1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 5201};

std::vector<std::uint64_t> drawn(std::span<const double> shares, int samples, unsigned seed) {
  std::mt19937 generator(seed);
  std::discrete_distribution<std::size_t> trigger(shares.begin(), shares.end());
  std::vector<std::uint64_t> hits(shares.size());
  for (int i = 0; i < samples; ++i) ++hits[trigger(generator)];
  return hits;
}

/// The shares of samples for a delay that is uniform from `low` to `high`.
std::vector<double> shares_between(std::uint64_t low, std::uint64_t high) {
  std::vector<double> shares(kDistances.size());
  for (std::uint64_t delay = low; delay <= high; ++delay) {
    const auto some = shadowed_shares(kDistances, delay);
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] += some[i];
  }
  return shares;
}

/// How many of some seeds have the mean delay in their interval.
int covering(std::uint64_t length, std::uint64_t spread, unsigned seeds) {
  const auto shares = shares_between(length - spread, length + spread);
  int covering = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const auto shadow = shadow_of(kDistances, drawn(shares, 5000, seed));
    const bool is_in =
        shadow && shadow->length && shadow->length->low <= length && length <= shadow->length->high;
    covering += is_in ? 1 : 0;
  }
  return covering;
}

TEST(Shadow, GivesTheSamplesOfATriggerToTheFirstOneAfterIt) {
  const std::vector<std::uint64_t> distances{10, 2, 100};
  EXPECT_THAT(shadowed_shares(distances, 0), ElementsAre(1 / 3., 1 / 3., 1 / 3.));
  EXPECT_THAT(shadowed_shares(distances, 2), ElementsAre(1 / 3., 1 / 3., 1 / 3.));
  // From the second the third is too close, and the first of the next iteration is sampled.
  EXPECT_THAT(shadowed_shares(distances, 3), ElementsAre(2 / 3., 1 / 3., 0));
  EXPECT_THAT(shadowed_shares(distances, 11), ElementsAre(2 / 3., 0, 1 / 3.));
}

TEST(Shadow, IntervalCoversTheLengthOfMostSamples) {
  constexpr unsigned kSeeds = 20;
  EXPECT_GE(covering(64, 0, kSeeds), 18);
  EXPECT_GE(covering(64, 30, kSeeds), 18);
  EXPECT_GE(covering(150, 149, 6), 5) << "as wide as can be";
  EXPECT_GE(covering(0, 0, kSeeds), 18);
}

TEST(Shadow, IsLocatedBetweenTwoDistances) {
  const auto shadow = shadow_of(kDistances, drawn(shadowed_shares(kDistances, 64), 5000, 1));
  ASSERT_TRUE(shadow && shadow->length);
  EXPECT_GT(shadow->length->low, 32u);
  EXPECT_LE(shadow->length->high, 65u);
  EXPECT_THAT(shadow->shares,
              testing::Pointwise(testing::DoubleNear(1e-9), shadowed_shares(kDistances, 64)));
}

TEST(Shadow, IsNotStatedForSamplesThatNoDelayExplains) {
  // The order of the triggers is reversed: the closest are favoured.
  auto hits = drawn(shadowed_shares(kDistances, 64), 5000, 1);
  std::reverse(hits.begin(), hits.end());
  const auto reversed = shadow_of(kDistances, hits);
  ASSERT_TRUE(reversed);
  EXPECT_FALSE(reversed->length);
  EXPECT_THAT(reversed->shares, testing::IsEmpty());
  const auto slope = shadow_of(std::vector<std::uint64_t>{10, 20, 30},
                               std::vector<std::uint64_t>{1000, 1200, 1400});
  ASSERT_TRUE(slope);
  EXPECT_FALSE(slope->length);
  EXPECT_LT(slope->p, kShadowFit);
}

TEST(Shadow, NeedsTwoTriggersAndFiveSamplesOfEach) {
  EXPECT_FALSE(shadow_of(std::vector<std::uint64_t>{10}, std::vector<std::uint64_t>{1000}));
  EXPECT_FALSE(shadow_of(std::vector<std::uint64_t>{10, 20}, std::vector<std::uint64_t>{4, 5}));
  EXPECT_TRUE(shadow_of(std::vector<std::uint64_t>{10, 20}, std::vector<std::uint64_t>{5, 5}));
}

}  // namespace
}  // namespace skid::analysis
