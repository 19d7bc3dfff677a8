#include "analysis/intervals.h"

#include "analysis/offset_counts.h"
#include "analysis/share.h"
#include "src/support/random.h"
#include "tests/support/offset_models.h"
#include "tests/support/prelude.h"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/math/distributions/binomial.hpp>

namespace skid::analysis {
namespace {

using test::OffsetModel;
using test::offsets;

// The exact coverage sums the binomial probabilities of the counts whose interval holds the share.
TEST(Wilson, CoversAsOftenAsTheBinomialDistributionSays) {
  constexpr int kRounds = 200;
  Random random(1927);
  for (const auto& [share, samples] : {std::pair{0.5, 30}, std::pair{0.9, 50}, std::pair{0.97, 200},
                                       std::pair{0.999, 1500}, std::pair{0.02, 120}}) {
    const auto holds = [share = share](const Share& interval) {
      return interval.low <= share && share <= interval.high;
    };
    const auto total = static_cast<std::uint64_t>(samples);
    const boost::math::binomial distribution(samples, share);
    double exact = 0;
    for (std::uint64_t count = 0; count <= total; ++count) {
      if (holds(wilson_interval(count, total))) {
        exact += boost::math::pdf(distribution, static_cast<double>(count));
      }
    }
    int covered = 0;
    for (int round = 0; round < kRounds; ++round) {
      std::uint64_t count = 0;
      for (std::uint64_t i = 0; i < total; ++i) count += random.share() < share;
      covered += holds(wilson_interval(count, total));
    }
    EXPECT_NEAR(covered, kRounds * exact, 3.5 * std::sqrt(kRounds * exact * (1 - exact)))
        << share << " of " << samples;
  }
}

TEST(GroupedQuantile, SpreadsTheSamplesOfAnOffsetEvenly) {
  // Python: statistics.median_grouped([1, 2, 2, 3, 4, 4, 4, 4, 4, 5]) is 3.7.
  EXPECT_DOUBLE_EQ(grouped_quantile(offsets({{1, 1}, {2, 2}, {3, 1}, {4, 5}, {5, 1}}), 0.5), 3.7);
  const OffsetCounts counts = offsets({{0, 10}, {10, 30}});
  EXPECT_DOUBLE_EQ(grouped_quantile(counts, 0), -0.5);
  EXPECT_DOUBLE_EQ(grouped_quantile(counts, 0.125), 0);
  EXPECT_DOUBLE_EQ(grouped_quantile(counts, 0.25), 0.5);
  EXPECT_DOUBLE_EQ(grouped_quantile(counts, 0.5), 9.5 + 1.0 / 3);
  EXPECT_DOUBLE_EQ(grouped_quantile(counts, 1), 10.5);
  EXPECT_THROW(grouped_quantile({}, 0.5), std::invalid_argument);
  EXPECT_THROW(grouped_quantile(counts, 1.1), std::invalid_argument);
}

TEST(QuantileInterval, EndsAtTheOrderStatisticsOfTheBinomialTest) {
  // W. J. Conover, Practical Nonparametric Statistics: of 1 to 100, ranks 40 and 61 bound the
  // median, since P(Bin(100, 1/2) <= 39) = 0.0176 and P(<= 40) = 0.0284.
  const auto interval = quantile_interval(test::every_offset(1, 100), 0.5);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->value, 50);
  EXPECT_EQ(interval->low, 40);
  EXPECT_EQ(interval->high, 61);
  EXPECT_DOUBLE_EQ(interval->grouped.value, 50.5);
  EXPECT_NEAR(interval->grouped.low.value(), 40.3, 0.1);
  EXPECT_NEAR(interval->grouped.high.value(), 60.7, 0.1);
}

TEST(QuantileInterval, HasNoEndThatNoSampleBounds) {
  const auto of_samples = [](int samples, double share) {
    return quantile_interval(test::every_offset(1, samples), share).value();
  };
  EXPECT_FALSE(of_samples(367, 0.99).high.has_value());
  EXPECT_FALSE(of_samples(367, 0.99).grouped.high.has_value());
  EXPECT_EQ(of_samples(368, 0.99).high, 368);
  EXPECT_TRUE(of_samples(367, 0.99).low.has_value());
  EXPECT_FALSE(of_samples(367, 0.01).low.has_value());
  EXPECT_FALSE(of_samples(5, 0.5).low.has_value());
  EXPECT_FALSE(of_samples(5, 0.5).high.has_value());
  EXPECT_EQ(of_samples(6, 0.5).low, 1);
  EXPECT_EQ(of_samples(6, 0.5).high, 6);
}

TEST(QuantileInterval, OfAsManySamplesAsCanBeCountedIsHad) {
  // The bound of a report's samples, where a report may say anything.
  for (const std::uint64_t each : {1'000'000ull, 10'000'000ull, 1'000'000'000'000ull}) {
    const OffsetCounts counts = test::every_offset(0, 999, each);
    const double n = 1000 * static_cast<double>(each);
    for (const double share : {0.5, 0.9, 0.99}) {
      const auto interval = quantile_interval(counts, share);
      const double reach = 1000 * 1.959964 * std::sqrt(share * (1 - share) / n);
      EXPECT_NEAR(interval->grouped.low.value(), 1000 * share - 0.5 - reach, 1e-2 * reach + 1e-9);
      EXPECT_NEAR(interval->grouped.high.value(), 1000 * share - 0.5 + reach, 1e-2 * reach + 1e-9);
    }
  }
}

TEST(QuantileInterval, OfOnePointIsThatPoint) {
  for (const std::uint64_t samples : {2u, 10u, 5000u}) {
    for (const double share : {0.5, 0.9, 0.99}) {
      const auto interval = quantile_interval(offsets({{-7, samples}}), share).value();
      EXPECT_EQ(interval.low, -7);
      EXPECT_EQ(interval.high, -7);
      EXPECT_EQ(interval.grouped.low, -7);
      EXPECT_EQ(interval.grouped.high, -7);
    }
  }
  const auto one = quantile_interval(offsets({{3, 1}}), 0.5).value();
  EXPECT_EQ(one.value, 3);
  EXPECT_FALSE(one.low || one.high || one.grouped.low || one.grouped.high);
  EXPECT_FALSE(quantile_interval({}, 0.5).has_value());
  EXPECT_THROW(quantile_interval({}, 1.0), std::invalid_argument);
}

std::vector<OffsetModel> models() {
  return {OffsetModel::normal(12, 0.6),
          OffsetModel::normal(20, 4),
          OffsetModel::normal(400, 60),
          OffsetModel::falling(8),
          OffsetModel::falling(150),
          OffsetModel::hits_and_tail(0.4, 20),
          OffsetModel::hits_and_tail(0.97, 100),
          OffsetModel::two_atoms(0.5, 40),
          OffsetModel::two_atoms(0.93, 3),
          OffsetModel::even(-100, 300)};
}

TEST(Intervals, CoverTheQuantilesAndTheMeanOfTheModel) {
  constexpr int kRounds = 80;
  Random random(53);
  const auto holds = [](const auto& interval, auto truth) {
    return interval.low <= truth && truth <= interval.high ? 1 : 0;
  };
  for (const OffsetModel& model : models()) {
    for (const std::uint64_t samples : {500u, 10'000u}) {
      SCOPED_TRACE(model.name() + ' ' + std::to_string(samples));
      const double shares[3] = {0.5, 0.9, 0.99};
      int whole[3] = {}, grouped[3] = {}, of_mean = 0;
      for (int round = 0; round < kRounds; ++round) {
        const OffsetCounts drawn = model.draw(random, samples);
        for (int i = 0; i < 3; ++i) {
          const auto interval = quantile_interval(drawn, shares[i]).value();
          whole[i] += holds(interval, model.lot().quantile(shares[i]));
          grouped[i] += holds(interval.grouped, grouped_quantile(model.lot(), shares[i]));
        }
        of_mean += holds(mean_interval(drawn).value(), model.lot().mean());
      }
      for (int i = 0; i < 3; ++i) {
        EXPECT_GE(whole[i], 0.87 * kRounds) << shares[i];
        EXPECT_GE(grouped[i], 0.87 * kRounds) << shares[i];
        if (model.largest_atom() < 0.01 && samples >= 10'000) {
          EXPECT_LE(grouped[i], 0.99 * kRounds) << shares[i];
        }
      }
      EXPECT_GE(of_mean, 0.87 * kRounds);
      EXPECT_LE(of_mean, 0.99 * kRounds);
    }
  }
}

TEST(MeanInterval, OfASymmetricSampleIsStudents) {
  // 1 to 5: mean 3, deviation sqrt(2.5), t(4) = 2.776.
  const auto interval = mean_interval(offsets({{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}));
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 3 - 2.776445 * std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(interval->high, 3 + 2.776445 * std::sqrt(0.5), 1e-6);
}

TEST(MeanInterval, ReachesFartherToTheSideOfTheTail) {
  const auto interval = mean_interval(offsets({{1, 90}, {50, 10}})).value();
  EXPECT_GT(interval.high - interval.value, interval.value - interval.low);
  const auto mirrored = mean_interval(offsets({{-1, 90}, {-50, 10}})).value();
  EXPECT_NEAR(mirrored.low, -interval.high, 1e-12);
  EXPECT_NEAR(mirrored.high, -interval.low, 1e-12);
}

TEST(MeanInterval, OfManySamplesEndsAmongThem) {
  const auto interval = mean_interval(offsets({{0, 4999}, {7, 1}})).value();
  EXPECT_EQ(interval.low, 0);
  EXPECT_GT(interval.high, interval.value);
  EXPECT_LT(mean_interval(offsets({{0, 1}, {10, 1}}))->low, -50);  // of two nothing is known
}

TEST(MeanInterval, OfSamplesWithoutASpreadIsAPoint) {
  // The last two offsets are the same as doubles.
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  for (const auto& counts : {offsets({{4, 200}}), offsets({{kFar, 2}, {kFar + 1, 1}})}) {
    const auto interval = mean_interval(counts).value();
    EXPECT_EQ(interval.low, interval.value);
    EXPECT_EQ(interval.high, interval.value);
  }
  EXPECT_FALSE(mean_interval(offsets({{4, 1}})).has_value());
  EXPECT_FALSE(mean_interval({}).has_value());
}

}  // namespace
}  // namespace skid::analysis
