// Random numbers and distributions of offsets: the same everywhere, and those that were asked for.
#include "src/support/random.h"
#include "src/synth/offsets.h"
#include "tests/support/prelude.h"

namespace skid::synth {
namespace {

std::map<std::int64_t, std::uint64_t> drawn(const Distribution& distribution, int samples,
                                            std::uint64_t seed = 1) {
  Random random(seed);
  const OffsetSampler sampler(distribution);
  std::map<std::int64_t, std::uint64_t> counts;
  for (int i = 0; i < samples; ++i) ++counts[sampler.draw(random)];
  return counts;
}

TEST(SynthRandom, IsTheSameOnEveryMachine) {
  Random random(42);
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < 6; ++i) numbers.push_back(random.below(1000));
  // std::mt19937_64 with seed 42, each number modulo 1000.
  EXPECT_THAT(numbers, ElementsAre(406, 824, 450, 662, 381, 428));
  EXPECT_EQ(Random(42).share(), 0.755155532954539);
}

TEST(SynthRandom, DrawsBelowABoundEvenly) {
  constexpr std::uint64_t kBound = 3ULL << 62U;  // three quarters of all numbers
  Random random(1);
  std::array<int, 3> thirds{};
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t number = random.below(kBound);
    ASSERT_LT(number, kBound);
    ++thirds.at(static_cast<std::size_t>(number / (1ULL << 62U)));
  }
  for (const int third : thirds) EXPECT_NEAR(third, 10'000, 400);
}

TEST(SynthRandom, DrawsNormalDeviates) {
  constexpr int kSamples = 200'000;
  constexpr int kBins = 40;  // of a width of 0.2, from -4 to 4
  Random random(7);
  std::array<double, kBins> seen{};
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double deviate = random.normal();
    sum += deviate;
    squares += deviate * deviate;
    fourth += deviate * deviate * deviate * deviate;
    const double bin = std::clamp(std::floor(deviate * 5) + 20, 0.0, kBins - 1.0);
    ++seen.at(static_cast<std::size_t>(bin));
  }
  EXPECT_NEAR(sum / kSamples, 0, 0.01);
  EXPECT_NEAR(squares / kSamples, 1, 0.015);
  EXPECT_NEAR(fourth / kSamples, 3, 0.1);
  const auto below = [](double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; };
  double chi_square = 0;
  for (int bin = 0; bin < kBins; ++bin) {
    const double low = bin == 0 ? 0 : below((bin - 20) / 5.0);
    const double high = bin == kBins - 1 ? 1 : below((bin - 19) / 5.0);
    const double expected = kSamples * (high - low);
    chi_square += std::pow(seen.at(static_cast<std::size_t>(bin)) - expected, 2) / expected;
  }
  EXPECT_LT(chi_square, 72.1);  // 39 degrees of freedom, p = 0.001
}

TEST(SynthOffsets, AreDrawnAsOftenAsInTheTable) {
  EXPECT_THAT(drawn(always(-7), 100), ElementsAre(Pair(-7, 100)));
  const auto counts = drawn(OffsetTable{{{-3, -3, 1}, {5, 6, 6}, {9, 9, 3}}}, 10'000);
  EXPECT_THAT(counts, ElementsAre(Pair(-3, ::testing::_), Pair(5, ::testing::_),
                                  Pair(6, ::testing::_), Pair(9, ::testing::_)));
  EXPECT_NEAR(static_cast<double>(counts.at(-3)), 1000, 150);
  EXPECT_NEAR(static_cast<double>(counts.at(5)), 3000, 250);
  EXPECT_NEAR(static_cast<double>(counts.at(9)), 3000, 250);
}

TEST(SynthOffsets, OfACycleDelayAreThoseOfTheInstructionNextToRetire) {
  const auto only = [](const NormalCycles& delay) { return drawn(delay, 10).begin()->first; };
  // 10 cycles at 4 instructions a cycle: 40 have retired, the 41st is next.
  EXPECT_EQ(only({.mean = 10, .stddev = 0, .cycles_per_nop = 0.25, .retire_group = 1}), 41);
  // 10.9 cycles are 43 instructions, of which ten groups of four have retired.
  EXPECT_EQ(only({.mean = 10.9, .stddev = 0, .cycles_per_nop = 0.25, .retire_group = 4}), 41);
  EXPECT_EQ(only({.mean = -3, .stddev = 0, .cycles_per_nop = 0.25, .retire_group = 1}), 1);
  EXPECT_EQ(only({.mean = 1e9, .stddev = 0, .cycles_per_nop = 0.01, .retire_group = 1}),
            kFurthestOffset);
  const auto counts = drawn(NormalCycles{.mean = 100, .stddev = 10, .retire_group = 4}, 20'000);
  double mean = 0;
  for (const auto& [offset, count] : counts) {
    EXPECT_EQ((offset - 1) % 4, 0) << offset;
    mean += static_cast<double>(offset) * static_cast<double>(count) / 20'000;
  }
  EXPECT_NEAR(mean, 399,
              1.5);  // 1 more than 400 less the 2 that a group is on average from its end
}

}  // namespace
}  // namespace skid::synth
