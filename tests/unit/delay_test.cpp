#include "analysis/delay.h"

#include "analysis/offset_counts.h"
#include "src/synth/model.h"
#include "tests/support/prelude.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace skid::analysis {
namespace {

/// Events of an iteration that is executed over and over, with a counter that overflows after
/// `period` events, and whose next event is recorded that retires `delay` instructions later or
/// more. Written as a walk along the instructions, without the arithmetic of delay_of().
class Loop {
 public:
  Loop(std::vector<std::uint64_t> distances, std::uint64_t period)
      : distances_(std::move(distances)), period_(period) {}

  std::size_t next(std::size_t from, std::uint64_t delay) const {
    std::size_t at = from;
    for (std::uint64_t event = 0; event < period_; ++event) at = (at + 1) % distances_.size();
    std::uint64_t instructions = 0;
    while (instructions < delay) {
      instructions += distances_[at];
      at = (at + 1) % distances_.size();
    }
    return at;
  }

  void add(SamplePairs& pairs, std::size_t from, std::size_t to) const {
    pairs.add(from, to, period_);
  }

  SamplePairs no_pairs() const {
    return {.distances = distances_,
            .iteration = std::accumulate(distances_.begin(), distances_.end(), std::uint64_t{0})};
  }

 private:
  std::vector<std::uint64_t> distances_;
  std::uint64_t period_;
};

const std::vector<std::uint64_t> kDense{1, 2, 3, 1, 4, 2, 1, 3, 2, 1, 1979};

TEST(DelayOfSamples, IsExactWhereEachLengthSelectsAnotherTrigger) {
  for (const std::uint64_t delay : {1U, 2U, 5U, 10U, 19U}) {
    SamplePairs pairs = Loop(kDense, 1009).no_pairs();
    // Of several periods, because one may lead to the same triggers again and again.
    std::uint64_t low = 0, high = UINT64_MAX;
    for (const std::uint64_t period : {1009U, 1010U, 1011U, 1013U}) {
      const Loop loop(kDense, period);
      pairs = loop.no_pairs();
      std::size_t at = 3;
      for (int i = 0; i < 1000; ++i) {
        const std::size_t to = loop.next(at, delay);
        loop.add(pairs, at, to);
        at = to;
      }
      const auto found = delay_of(pairs, {});
      if (!found) continue;  // all samples at one trigger
      EXPECT_EQ(found->predicted, 1) << delay << ' ' << period;
      EXPECT_LE(found->low, delay);
      EXPECT_GE(found->high, delay);
      low = std::max(low, found->low);
      high = std::min(high, found->high);
    }
    EXPECT_LE(low, delay);
    EXPECT_GE(high, delay);
    EXPECT_LE(high - low, 3u) << delay;
  }
}

TEST(DelayOfSamples, IsTheMostFrequentOfSeveral) {
  const Loop loop({10, 10, 10, 10, 10, 10, 240}, 1010);
  SamplePairs pairs = loop.no_pairs();
  std::mt19937 random(1);
  std::size_t at = 0;
  for (int i = 0; i < 5000; ++i) {
    const bool is_longer = random() % 10 == 0;
    const std::size_t from = random() % 3 == 0 ? random() % 7 : at;  // an interrupt in between
    if (from != at) {
      ++pairs.left_out;
      at = from;
      continue;
    }
    const std::size_t to = loop.next(at, is_longer ? 58 : 43);
    loop.add(pairs, at, to);
    at = to;
  }
  const auto found = delay_of(pairs, {});
  ASSERT_TRUE(found);
  EXPECT_LE(found->low, 43u);
  EXPECT_GE(found->high, 43u);
  EXPECT_GT(found->predicted, 0.85);
  EXPECT_LT(found->independent, 0.7);
}

TEST(Shadow, GivesTheSamplesOfAnEventToTheFirstOneAfterIt) {
  const std::vector<std::uint64_t> distances{10, 2, 100};
  EXPECT_THAT(shadowed_shares(distances, 1), ElementsAre(1 / 3., 1 / 3., 1 / 3.));
  EXPECT_THAT(shadowed_shares(distances, 2), ElementsAre(1 / 3., 1 / 3., 1 / 3.));
  // From the second the third is too close, and the first of the next iteration is recorded.
  EXPECT_THAT(shadowed_shares(distances, 3), ElementsAre(2 / 3., 1 / 3., 0));
  EXPECT_THAT(shadowed_shares(distances, 3, std::vector{0.5, 0.5, 0.}), ElementsAre(0.5, 0.5, 0));
  EXPECT_THAT(shadowed_shares(distances, 11), ElementsAre(2 / 3., 0, 1 / 3.));
}

TEST(DelayOfSamples, IsNotClaimedOfIndependentSamples) {
  int claimed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SamplePairs pairs = Loop(kDense, 1009).no_pairs();
    std::mt19937 random(seed);
    // Uneven ones, too.
    std::discrete_distribution<std::size_t> shares({1, 1, 1, 5, 1, 1, 1, 1, 1, 1, 1});
    std::size_t at = 0;
    for (int i = 0; i < 5000; ++i) {
      const std::size_t to = seed % 2 == 0 ? shares(random) : random() % kDense.size();
      pairs.add(at, to, 1009);
      at = to;
    }
    claimed += delay_of(pairs, {}) ? 1 : 0;
  }
  EXPECT_EQ(claimed, 0);
}

TEST(DelayOfSamples, IsNotClaimedWhereAllAreAtOneTrigger) {
  SamplePairs pairs = Loop(kDense, 11).no_pairs();
  for (int i = 0; i < 1000; ++i) pairs.add(4, 4, 11);
  EXPECT_FALSE(delay_of(pairs, {}));
}

TEST(DelayOfSamples, OfInstructionsIsTheDistanceFromTheOverflow) {
  constexpr std::uint64_t kIteration = 804, kPeriod = 1009, kDelay = 1;
  SamplePairs pairs{.iteration = kIteration};
  OffsetCounts samples;
  std::uint64_t at = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t to = (at + kPeriod + kDelay) % kIteration;
    pairs.add(at, to, kPeriod);
    samples.add(static_cast<std::int64_t>(to), 1);
    at = to;
  }
  const auto found = delay_of(pairs, samples);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->low, kDelay);
  EXPECT_EQ(found->high, kDelay);
  EXPECT_EQ(found->p95, kDelay);
  pairs += pairs;
  EXPECT_EQ(pairs.pairs(), 2000u);
  EXPECT_EQ(delay_of(pairs, samples)->low, kDelay);
}

}  // namespace
}  // namespace skid::analysis
