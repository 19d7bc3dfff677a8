#include "analysis/two_sample.h"

#include "analysis/comparison.h"
#include "analysis/distributions.h"
#include "analysis/intervals.h"
#include "analysis/offset_counts.h"
#include "analysis/share.h"
#include "src/support/random.h"
#include "tests/support/offset_models.h"
#include "tests/support/prelude.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::analysis {
namespace {

using test::OffsetModel;
using test::offsets;

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
  EXPECT_NEAR(wasserstein(offsets({{INT64_MIN, 1}}), offsets({{INT64_MAX, UINT64_MAX}})), 0x1p64,
              1);
}

TEST(Distances, OfNoSamplesAreRefused) {
  EXPECT_THROW(total_variation({}, counts_of({1})), std::invalid_argument);
  EXPECT_THROW(wasserstein(counts_of({1}), {}), std::invalid_argument);
  EXPECT_THROW(kolmogorov_smirnov({}, {}), std::invalid_argument);
  EXPECT_THROW(kolmogorov_smirnov_p({}, counts_of({1})), std::invalid_argument);
  EXPECT_THROW(mean_difference({}, counts_of({1})), std::invalid_argument);
  EXPECT_THROW(quantile_difference({}, counts_of({1}), 0.5), std::invalid_argument);
}

using P = double (*)(const OffsetCounts&, const OffsetCounts&);
constexpr int kRounds = 100;

/// A test holds its levels where p is at most each as often as the level allows, but for chance.
/// Samples of two models without the difference that is tested.
void expect_levels(Random& random, const OffsetModel& model_a, std::uint64_t n,
                   const OffsetModel& model_b, std::uint64_t m, P p_of) {
  const std::vector<double> levels{0.01, 0.05, 0.2};
  std::vector<int> rejected(levels.size());
  for (int round = 0; round < kRounds; ++round) {
    const auto a = model_a.draw(random, n), b = model_b.draw(random, m);
    const double p = p_of(a, b);
    for (std::size_t i = 0; i < levels.size(); ++i) rejected[i] += p <= levels[i];
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    EXPECT_LE(rejected[i],
              levels[i] * kRounds + 3.5 * std::sqrt(levels[i] * (1 - levels[i]) * kRounds))
        << model_a.name() << ' ' << n << ' ' << m << ' ' << levels[i];
  }
}

double mean_p(const OffsetCounts& a, const OffsetCounts& b) {
  return mean_difference(a, b).p;
}
double median_p(const OffsetCounts& a, const OffsetCounts& b) {
  return quantile_difference(a, b, 0.5).p;
}
double p99_p(const OffsetCounts& a, const OffsetCounts& b) {
  return quantile_difference(a, b, 0.99).p;
}

TEST(TwoSampleTests, HoldTheirLevelsWhereThereIsNoDifference) {
  Random random(23);
  for (const auto& [model, n, m] : {std::tuple{OffsetModel::normal(12, 1.5), 2000u, 2000u},
                                    {OffsetModel::falling(40), 100u, 2000u},
                                    {OffsetModel::falling(5), 8u, 30u},
                                    {OffsetModel::hits_and_tail(0.99, 300), 200u, 2000u},
                                    {OffsetModel::hits_and_tail(0.999, 100), 3000u, 3000u},
                                    {OffsetModel::two_atoms(0.9, 1000), 50u, 300u},
                                    {OffsetModel::two_atoms(0.99, 1000), 100u, 3000u},
                                    {OffsetModel::normal(30, 20), 1u, 50u}}) {
    for (const P p_of : {mean_p, median_p, p99_p, kolmogorov_smirnov_p}) {
      expect_levels(random, model, n, model, m, p_of);
    }
  }
}

TEST(MeanDifference, HoldsItsLevelForEqualMeansOfUnequalSpread) {
  Random random(29);
  const auto narrow = OffsetModel::normal(50, 3), wide = OffsetModel::normal(50, 30);
  for (const auto& [n, m] : {std::pair{15u, 80u}, std::pair{80u, 15u}, std::pair{100u, 1000u}}) {
    expect_levels(random, narrow, n, wide, m, mean_p);
  }
}

/// How often the interval of the difference, of `n` and `m` samples, holds the truth.
void expect_covered(Random& random, const OffsetModel& model_a, std::uint64_t n,
                    const OffsetModel& model_b, std::uint64_t m, double truth,
                    const std::function<Difference(const OffsetCounts&, const OffsetCounts&)>& of) {
  int covered = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Difference difference = of(model_a.draw(random, n), model_b.draw(random, m));
    EXPECT_LE(difference.low, difference.value);
    EXPECT_GE(difference.high, difference.value);
    covered += difference.low <= truth && truth <= difference.high;
  }
  EXPECT_GE(covered, 0.88 * kRounds) << model_a.name();
}

TEST(Differences, AreCoveredByTheirIntervals) {
  Random random(31);
  const auto falling = OffsetModel::falling(40), normal = OffsetModel::normal(30, 20);
  expect_covered(random, falling, 300, normal, 2000, normal.lot().mean() - falling.lot().mean(),
                 mean_difference);
  const auto far = OffsetModel::normal(100, 30), tail = OffsetModel::falling(60);
  for (const double share : {0.5, 0.9, 0.99}) {
    expect_covered(
        random, far, 2000, tail, 5000,
        grouped_quantile(tail.lot(), share) - grouped_quantile(far.lot(), share),
        [share](const auto& a, const auto& b) { return quantile_difference(a, b, share); });
  }
}

TEST(KolmogorovSmirnov, PIsExactForFewSamples) {
  // Two of the C(n + m, n) orders of samples divide them; one sample cannot differ from one other.
  EXPECT_NEAR(kolmogorov_smirnov_p(counts_of({1, 2, 3}), counts_of({4, 5, 6})), 2.0 / 20, 1e-12);
  EXPECT_NEAR(kolmogorov_smirnov_p(counts_of({1, 2}), counts_of({4, 5})), 2.0 / 6, 1e-12);
  EXPECT_EQ(kolmogorov_smirnov_p(counts_of({1}), counts_of({2})), 1);
  // Of the 126 ways to divide nine samples so, 36 are at least as far apart.
  EXPECT_NEAR(kolmogorov_smirnov_p(counts_of({1, 3, 5, 7, 9}), counts_of({6, 8, 10, 12})),
              36.0 / 126, 1e-12);
  EXPECT_NEAR(std::log(kolmogorov_smirnov_p(offsets({{0, 100}}), offsets({{1, 100}}))),
              std::log(fisher_exact_p(100, 100, 0, 100)), 1e-6);
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
    const Difference reverse = difference_of_shares(wilson_interval(c.count_b, c.total_b),
                                                    wilson_interval(c.count_a, c.total_a));
    EXPECT_NEAR(difference.p, reverse.p, 1e-12);
  }
}

TEST(DifferenceOfShares, OfNothingCanBeAnything) {
  const Difference difference = difference_of_shares(wilson_interval(0, 0), wilson_interval(0, 0));
  EXPECT_EQ(difference.low, -1);
  EXPECT_EQ(difference.high, 1);
  EXPECT_EQ(difference.p, 1);
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
  const OffsetCounts a = offsets({{1, 500}}), b = offsets({{3, 400}});
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

TEST(QuantileDifference, CutsWhereTheSamplesAreSplitNearestToTheShare) {
  const auto a = offsets({{0, 400}, {1, 100}}), b = offsets({{0, 100}, {1, 400}});
  // Pooled: half at most at 0. Nothing is above 1.
  EXPECT_EQ(quantile_difference(a, b, 0.5).p, fisher_exact_p(400, 500, 100, 500));
  EXPECT_EQ(quantile_difference(a, b, 0.99).p, fisher_exact_p(400, 500, 100, 500));
  EXPECT_EQ(quantile_difference(a, a, 0.5).p, 1);
  const OffsetCounts point = offsets({{3, 50}});
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
