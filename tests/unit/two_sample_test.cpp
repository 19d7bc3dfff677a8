#include "analysis/two_sample.h"

#include "analysis/distributions.h"
#include "analysis/intervals.h"
#include "src/support/random.h"
#include "tests/support/offset_models.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

using test::OffsetModel;

OffsetCounts counts_of(const std::vector<std::int64_t>& offsets) {
  OffsetCounts counts;
  for (const std::int64_t offset : offsets) counts.add(offset, 1);
  return counts;
}

std::vector<std::int64_t> draw(Random& random, std::size_t samples, std::uint64_t distinct) {
  std::vector<std::int64_t> drawn;
  for (std::size_t i = 0; i < samples; ++i) {
    drawn.push_back(static_cast<std::int64_t>(random.below(distinct)) - 2);
  }
  return drawn;
}

double share_at_most(const std::vector<std::int64_t>& offsets, std::int64_t offset) {
  const auto below = std::count_if(offsets.begin(), offsets.end(),
                                   [offset](std::int64_t other) { return other <= offset; });
  return static_cast<double>(below) / static_cast<double>(offsets.size());
}

double share_at(const std::vector<std::int64_t>& offsets, std::int64_t offset) {
  return share_at_most(offsets, offset) - share_at_most(offsets, offset - 1);
}

TEST(Distances, AreThoseOfSampleAgainstSample) {
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    // As many in both, so that moving one to the other is matching them in order.
    const std::size_t samples = 1 + random.below(30);
    auto a = draw(random, samples, 1 + random.below(20));
    auto b = draw(random, samples, 1 + random.below(20));
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    double moved = 0, variation = 0, d = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      moved += static_cast<double>(std::abs(a[i] - b[i])) / static_cast<double>(samples);
    }
    for (std::int64_t offset = -2; offset < 20; ++offset) {
      variation += std::abs(share_at(a, offset) - share_at(b, offset)) / 2;
      d = std::max(d, std::abs(share_at_most(a, offset) - share_at_most(b, offset)));
    }
    EXPECT_NEAR(wasserstein(counts_of(a), counts_of(b)), moved, 1e-12);
    EXPECT_NEAR(total_variation(counts_of(a), counts_of(b)), variation, 1e-12);
    EXPECT_NEAR(kolmogorov_smirnov(counts_of(a), counts_of(b)), d, 1e-12);
    EXPECT_EQ(wasserstein(counts_of(a), counts_of(a)), 0);
  }
}

TEST(Distances, OfSamplesThatShareNoOffset) {
  const auto a = counts_of({0, 0, 0});
  const auto b = counts_of({7});
  EXPECT_EQ(total_variation(a, b), 1);
  EXPECT_EQ(kolmogorov_smirnov(a, b), 1);
  EXPECT_EQ(wasserstein(a, b), 7);
  EXPECT_EQ(wasserstein(b, a), 7);
}

TEST(Distances, TellTheFarthestOffsetsApart) {
  OffsetCounts lowest, highest;
  lowest.add(INT64_MIN, 1);
  highest.add(INT64_MAX, UINT64_MAX);
  EXPECT_NEAR(wasserstein(lowest, highest), 0x1p64, 1);
}

TEST(Distances, OfNoSamplesAreRefused) {
  EXPECT_THROW(total_variation({}, counts_of({1})), std::invalid_argument);
  EXPECT_THROW(wasserstein(counts_of({1}), {}), std::invalid_argument);
  EXPECT_THROW(kolmogorov_smirnov({}, {}), std::invalid_argument);
  EXPECT_THROW(kolmogorov_smirnov_p({}, counts_of({1})), std::invalid_argument);
  EXPECT_THROW(mean_difference({}, counts_of({1})), std::invalid_argument);
  EXPECT_THROW(quantile_difference({}, counts_of({1}), 0.5), std::invalid_argument);
}

/// How often p is at most the level where there is no difference.
struct Level {
  double level;
  int rejected = 0;
  /// At most what the level allows, but for chance.
  bool holds(int rounds) const {
    return rejected <= level * rounds + 3.5 * std::sqrt(level * (1 - level) * rounds);
  }
};

TEST(KolmogorovSmirnov, RejectsNoMoreThanItsLevelWhereThereIsNoDifference) {
  constexpr int kRounds = 100;
  Random random(17);
  for (const auto& [model, n, m] : {std::tuple{OffsetModel::normal(40, 20), 200u, 600u},
                                    std::tuple{OffsetModel::hits_and_tail(0.95, 30), 500u, 100u},
                                    std::tuple{OffsetModel::two_atoms(0.3, 5), 400u, 400u}}) {
    Level level{0.05};
    for (int round = 0; round < kRounds; ++round) {
      const auto a = model.draw(random, n);
      const auto b = model.draw(random, m);
      level.rejected += kolmogorov_smirnov_p(a, b) <= level.level;
    }
    EXPECT_TRUE(level.holds(kRounds)) << model.name() << ' ' << level.rejected;
  }
}

TEST(KolmogorovSmirnov, FindsAShiftOfTwoInstructions) {
  Random random(5);
  const auto before = OffsetModel::normal(30, 20), after = OffsetModel::normal(32, 20);
  for (int round = 0; round < 3; ++round) {
    EXPECT_LT(kolmogorov_smirnov_p(before.draw(random, 10'000), after.draw(random, 10'000)), 0.01);
  }
}

TEST(KolmogorovSmirnov, PIsTheTailOfKolmogorovsDistribution) {
  Random random(6);
  const auto a = OffsetModel::normal(30, 5).draw(random, 5000);
  const auto b = OffsetModel::normal(31, 5).draw(random, 5000);
  const double d = kolmogorov_smirnov(a, b);
  // Far out only the first term of the series is left.
  EXPECT_NEAR(kolmogorov_smirnov_p(a, b) / (2 * std::exp(-2 * d * d * 2500)), 1, 1e-6);
  EXPECT_EQ(kolmogorov_smirnov_p(a, a), 1);
}

// R. G. Newcombe, Statistics in Medicine 17, 1998, table II, method 10.
TEST(DifferenceOfShares, AgreesWithPublishedIntervals) {
  struct Case {
    std::uint64_t count_a, total_a, count_b, total_b;
    double low, high;
  };
  for (const Case& c : {Case{48, 80, 56, 70, 0.0524, 0.3339}, Case{3, 10, 9, 10, 0.1705, 0.8090},
                        Case{2, 7, 6, 7, 0.0582, 0.8062}, Case{0, 29, 5, 56, -0.0381, 0.1926},
                        Case{0, 20, 0, 10, -0.1611, 0.2775}, Case{0, 10, 10, 10, 0.6075, 1}}) {
    const Difference difference = difference_of_shares(wilson_interval(c.count_a, c.total_a),
                                                       wilson_interval(c.count_b, c.total_b));
    EXPECT_NEAR(difference.low, c.low, 5e-5);
    EXPECT_NEAR(difference.high, c.high, 5e-5);
    EXPECT_EQ(difference.p, difference_of_shares(wilson_interval(c.count_b, c.total_b),
                                                 wilson_interval(c.count_a, c.total_a))
                                .p);
  }
}

TEST(DifferenceOfShares, OfNothingCanBeAnything) {
  const Difference difference = difference_of_shares(wilson_interval(0, 0), wilson_interval(0, 0));
  EXPECT_EQ(difference.low, -1);
  EXPECT_EQ(difference.high, 1);
  EXPECT_EQ(difference.p, 1);
  EXPECT_THROW(difference_of_shares(wilson_interval(1, 2, 0.9), wilson_interval(1, 2)),
               std::invalid_argument);
}

struct NullCase {
  OffsetModel model;
  std::uint64_t n, m;
};

std::vector<NullCase> null_cases() {
  return {{OffsetModel::normal(12, 1.5), 2000, 2000},
          {OffsetModel::falling(40), 100, 2000},
          {OffsetModel::falling(5), 8, 30},
          {OffsetModel::hits_and_tail(0.99, 300), 200, 2000},
          {OffsetModel::hits_and_tail(0.999, 100), 3000, 3000},
          {OffsetModel::two_atoms(0.9, 1000), 50, 300},
          {OffsetModel::two_atoms(0.99, 1000), 100, 3000},
          {OffsetModel::normal(30, 20), 1, 50}};
}

TEST(MeanDifference, HoldsItsLevelForSkewedSamplesOfUnequalSize) {
  constexpr int kRounds = 100;
  Random random(23);
  for (const NullCase& c : null_cases()) {
    std::vector<Level> levels{{0.01}, {0.05}, {0.2}};
    for (int round = 0; round < kRounds; ++round) {
      const auto a = c.model.draw(random, c.n);
      const auto b = c.model.draw(random, c.m);
      const double p = mean_difference(a, b).p;
      for (Level& level : levels) level.rejected += p <= level.level;
    }
    for (const Level& level : levels) {
      EXPECT_TRUE(level.holds(kRounds))
          << c.model.name() << ' ' << c.n << ' ' << level.level << ' ' << level.rejected;
    }
  }
}

TEST(MeanDifference, HoldsItsLevelForEqualMeansOfUnequalSpread) {
  constexpr int kRounds = 100;
  Random random(29);
  const auto narrow = OffsetModel::normal(50, 3), wide = OffsetModel::normal(50, 30);
  for (const auto& [n, m] : {std::pair{15u, 80u}, std::pair{80u, 15u}, std::pair{100u, 1000u}}) {
    Level level{0.05};
    for (int round = 0; round < kRounds; ++round) {
      const auto a = narrow.draw(random, n);
      const auto b = wide.draw(random, m);
      level.rejected += mean_difference(a, b).p <= level.level;
    }
    EXPECT_TRUE(level.holds(kRounds)) << n << ' ' << level.rejected;
  }
}

TEST(MeanDifference, CoversTheDifference) {
  constexpr int kRounds = 100;
  Random random(31);
  const auto a_model = OffsetModel::falling(40), b_model = OffsetModel::normal(30, 20);
  const double truth = b_model.lot().mean() - a_model.lot().mean();
  int covered = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto difference = mean_difference(a_model.draw(random, 300), b_model.draw(random, 2000));
    EXPECT_LE(difference.low, difference.value);
    EXPECT_GE(difference.high, difference.value);
    covered += difference.low <= truth && truth <= difference.high;
  }
  EXPECT_GE(covered, 0.88 * kRounds);
}

TEST(MeanDifference, IsThatOfTheSamples) {
  const auto a = counts_of({1, 2, 3}), b = counts_of({4, 4, 10});
  const Difference difference = mean_difference(a, b);
  EXPECT_DOUBLE_EQ(difference.value, 4);
  // 2 of the 20 ways to choose three of the six are as far apart.
  EXPECT_NEAR(difference.p, 0.1, 0.08);
  EXPECT_EQ(mean_difference(a, a).p, 1);
}

TEST(MeanDifference, OfOnePointSamplesIsAPoint) {
  OffsetCounts a, b;
  a.add(1, 500);
  b.add(3, 400);
  const Difference difference = mean_difference(a, b);
  EXPECT_EQ(difference.value, 2);
  EXPECT_EQ(difference.low, 2);
  EXPECT_EQ(difference.high, 2);
  EXPECT_LE(difference.p, 1e-4);
  const Difference none = mean_difference(a, a);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 0);
  EXPECT_EQ(none.p, 1);
}

TEST(QuantileDifference, HoldsItsLevel) {
  constexpr int kRounds = 100;
  Random random(37);
  for (const NullCase& c : null_cases()) {
    for (const double share : {0.5, 0.99}) {
      Level level{0.05};
      for (int round = 0; round < kRounds; ++round) {
        const auto a = c.model.draw(random, c.n);
        const auto b = c.model.draw(random, c.m);
        level.rejected += quantile_difference(a, b, share).p <= level.level;
      }
      EXPECT_TRUE(level.holds(kRounds)) << c.model.name() << ' ' << share << ' ' << level.rejected;
    }
  }
}

TEST(QuantileDifference, CoversTheDifferenceOfGroupedQuantiles) {
  constexpr int kRounds = 100;
  Random random(41);
  const auto a_model = OffsetModel::normal(100, 30), b_model = OffsetModel::falling(60);
  for (const double share : {0.5, 0.9, 0.99}) {
    const double truth =
        grouped_quantile(b_model.lot(), share) - grouped_quantile(a_model.lot(), share);
    int covered = 0;
    for (int round = 0; round < kRounds; ++round) {
      const auto difference =
          quantile_difference(a_model.draw(random, 2000), b_model.draw(random, 5000), share);
      covered += difference.low <= truth && truth <= difference.high;
    }
    EXPECT_GE(covered, 0.88 * kRounds) << share;
  }
}

TEST(QuantileDifference, CutsWhereTheSamplesAreSplitNearestToTheShare) {
  OffsetCounts a, b;
  a.add(0, 400);
  a.add(1, 100);
  b.add(0, 100);
  b.add(1, 400);
  // Pooled: half at most at 0. Nothing is above 1.
  EXPECT_EQ(quantile_difference(a, b, 0.5).p, fisher_exact_p(400, 500, 100, 500));
  EXPECT_EQ(quantile_difference(a, b, 0.99).p, fisher_exact_p(400, 500, 100, 500));
  EXPECT_EQ(quantile_difference(a, a, 0.5).p, 1);
  OffsetCounts point;
  point.add(3, 50);
  EXPECT_EQ(quantile_difference(point, point, 0.5).p, 1);
}

TEST(QuantileDifference, IsUnboundedWhereTheSamplesAre) {
  const auto few = counts_of({1, 2, 3, 4, 5, 6, 7, 8});
  const Difference difference = quantile_difference(few, few, 0.99);
  EXPECT_EQ(difference.low, -HUGE_VAL);
  EXPECT_EQ(difference.high, HUGE_VAL);
}

TEST(Holm, AdjustsInSteps) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  const auto adjusted = holm(p);
  ASSERT_EQ(adjusted.size(), 4u);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.03);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[3], 0.02);
  EXPECT_TRUE(holm({}).empty());
  EXPECT_EQ(holm(std::vector<double>{0.7, 0.8}), (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace skid::analysis
