#include "analysis/block_evenness.h"

#include "src/support/random.h"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

using BlockCounts = std::vector<std::uint64_t>;

/// Samples of places that execute equally often, one of them favoured by a factor.
BlockCounts drawn(std::size_t places, std::uint64_t samples, Random& random, double factor = 1) {
  BlockCounts counts(places);
  const double all = static_cast<double>(places) - 1 + factor;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const double at = random.share() * all - factor;
    ++counts[at < 0 ? 0 : 1 + static_cast<std::size_t>(at)];
  }
  return counts;
}

TEST(BlockEvenness, FindsAShadowOfAFactorOfTwoOnOneLoadOfEight) {
  int found = 0;
  constexpr int kSeeds = 40;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const std::vector<BlockCounts> blocks{drawn(8, 2000, random, 2)};
    const ProfileEvenness evenness = evenness_of_blocks(blocks);
    if (evenness.biased == 1 && evenness.misplaced.low > 0) ++found;
  }
  EXPECT_GE(found, kSeeds * 95 / 100);
}

TEST(BlockEvenness, DoesNotCallAnEvenProfileBiased) {
  int called = 0, covers = 0;
  constexpr int kSeeds = 20;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    std::vector<BlockCounts> blocks;
    for (int i = 0; i < 50; ++i)
      blocks.push_back(drawn(2 + random.below(9), 10 + random.below(200), random));
    const ProfileEvenness evenness = evenness_of_blocks(blocks);
    if (evenness.biased > 0) ++called;
    if (evenness.misplaced.low == 0) ++covers;
  }
  EXPECT_LE(called, kSeeds * 5 / 100);
  EXPECT_GE(covers, kSeeds * 93 / 100);
}

TEST(BlockEvenness, MisplacedIsWhatIsBeyondTheEvenCounts) {
  // Half of the differences: (1614 + 3341 - 2 * 5007 / 7) of 5007 samples.
  const std::vector<BlockCounts> blocks{{51, 1614, 3341, 1, 0, 0, 0}};
  const ProfileEvenness evenness = evenness_of_blocks(blocks);
  const double half_sum = 1614 + 3341 - 2 * 5007.0 / 7;
  EXPECT_DOUBLE_EQ(evenness.blocks[0].half_sum, half_sum);
  EXPECT_NEAR(evenness.misplaced.value, (half_sum - evenness.blocks[0].half_sum_due) / 5007, 1e-12);
  EXPECT_LT(evenness.misplaced.low, evenness.misplaced.value);
  EXPECT_GT(evenness.misplaced.high, evenness.misplaced.value);
  EXPECT_LT(evenness.misplaced.high - evenness.misplaced.low, 0.05);
  EXPECT_EQ(evenness.biased, 1U);
}

TEST(BlockEvenness, GivesTheMeanHalfSumOfEvenSamples) {
  // Two samples on two places: (2, 0) in half of the cases, which is 1 off.
  const auto due = [](const BlockCounts& counts) {
    return evenness_of_blocks(std::vector<BlockCounts>{counts}).blocks[0].half_sum_due;
  };
  EXPECT_NEAR(due({2, 0}), 0.5, 1e-12);
  // Three on three: (3, 0, 0) in 3 of 27 cases is 2 off, (2, 1, 0) in 18 of them 1.
  EXPECT_NEAR(due({3, 0, 0}), (3 * 2.0 + 18 * 1.0) / 27, 1e-12);
}

TEST(BlockEvenness, SimulatesWhereFewSamplesAreExpected) {
  // Ten samples on four places, all on one: 4 of 4^10 cases.
  const auto rare = evenness_of_blocks(std::vector<BlockCounts>{{10, 0, 0, 0}});
  EXPECT_LT(rare.blocks[0].bias.p, 1e-4);
  // {3, 3, 2, 2} has the least sum of squares of all.
  const auto even = evenness_of_blocks(std::vector<BlockCounts>{{3, 3, 2, 2}});
  EXPECT_EQ(even.blocks[0].bias.p, 1);
  const auto again = evenness_of_blocks(std::vector<BlockCounts>{{4, 1, 3, 2}});
  EXPECT_EQ(again.blocks[0].bias.p,
            evenness_of_blocks(std::vector<BlockCounts>{{4, 1, 3, 2}}).blocks[0].bias.p);
}

TEST(BlockEvenness, TakesNoLongerForMorePlaces) {
  BlockCounts counts(100'000);
  counts[7] = 10;
  const auto one = evenness_of_blocks(std::vector<BlockCounts>{counts});
  EXPECT_LT(one.blocks[0].bias.p, 1e-2);
  EXPECT_EQ(one.biased, 1U);
}

TEST(BlockEvenness, AdjustsForTheNumberOfBlocks) {
  const BlockCounts one{140, 100, 100, 100};
  const auto alone = evenness_of_blocks(std::vector<BlockCounts>{one});
  EXPECT_DOUBLE_EQ(alone.blocks[0].p_holm, alone.blocks[0].bias.p);
  std::vector<BlockCounts> many(20, BlockCounts{100, 100, 100, 100});
  many.push_back(one);
  EXPECT_NEAR(evenness_of_blocks(many).blocks.back().p_holm, 21 * alone.blocks[0].bias.p, 1e-12);
}

TEST(BlockEvenness, NeedsTwoPlacesAndASample) {
  EXPECT_THROW(evenness_of_blocks(std::vector<BlockCounts>{{5}}), std::invalid_argument);
  EXPECT_THROW(evenness_of_blocks(std::vector<BlockCounts>{{0, 0}}), std::invalid_argument);
  EXPECT_TRUE(evenness_of_blocks({}).blocks.empty());
}

}  // namespace
}  // namespace skid::analysis
