#include "analysis/statistics.h"

#include "tests/support/offset_models.h"

#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

using test::offsets;

// R. G. Newcombe, Statistics in Medicine 17, 1998, table I, method 3; 5 of 10 as R gives it
// (prop.test(5, 10, correct = FALSE)).
TEST(Wilson, AgreesWithPublishedIntervals) {
  struct Case {
    std::uint64_t count, total;
    double low, high;
  };
  for (const Case& c :
       {Case{5, 10, 0.2366, 0.7634}, Case{81, 263, 0.2553, 0.3662}, Case{15, 148, 0.0624, 0.1605},
        Case{0, 20, 0.0, 0.1611}, Case{1, 29, 0.0061, 0.1718}, Case{0, 0, 0, 1}}) {
    const Share share = wilson_interval(c.count, c.total);
    EXPECT_NEAR(share.low, c.low, 5e-5) << c.count << " of " << c.total;
    EXPECT_NEAR(share.high, c.high, 5e-5) << c.count << " of " << c.total;
  }
  EXPECT_THROW(wilson_interval(2, 1), std::invalid_argument);
}

TEST(Wilson, ReachesExactlyZeroAndOneAtTheEnds) {
  for (const std::uint64_t total : {1u, 3u, 10u, 5000u, 123457u}) {
    EXPECT_EQ(wilson_interval(0, total).low, 0.0);
    EXPECT_EQ(wilson_interval(total, total).high, 1.0);
  }
}

TEST(SamplesToShow, IsWhereTheIntervalOfNoMissReachesTheShare) {
  EXPECT_EQ(samples_to_show(0.999), 3838u);
  for (const double share : {0.5, 0.9, 0.99, 0.999, 0.9999}) {
    const std::uint64_t enough = samples_to_show(share);
    EXPECT_GE(wilson_interval(enough, enough).low, share) << share;
    EXPECT_LT(wilson_interval(enough - 1, enough - 1).low, share) << share;
  }
}

TEST(Quantile, IsTheSmallestOffsetThatTheShareDoesNotExceed) {
  const OffsetCounts counts = offsets({{-2, 1}, {0, 4}, {7, 4}, {100, 1}});
  for (const auto& [share, offset] :
       {std::pair{0.1, -2}, std::pair{0.5, 0}, std::pair{0.51, 7}, std::pair{0.9, 7},
        std::pair{0.91, 100}, std::pair{1.0, 100}}) {
    EXPECT_EQ(counts.quantile(share), offset) << share;
  }
  EXPECT_EQ(offsets({{42, 1}}).quantile(0.001), 42);
  EXPECT_EQ(offsets({{42, UINT64_MAX}}).quantile(1.0), 42);
}

TEST(Quantile, DoesNotSlipByOneBecauseOfBinaryFractions) {
  const OffsetCounts counts = test::every_offset(1, 100);
  for (int hundredths = 1; hundredths <= 100; ++hundredths) {
    EXPECT_EQ(counts.quantile(hundredths / 100.0), hundredths);
  }
}

TEST(OffsetCounts, HaveMeanAndDeviationOfTheSample) {
  // 2 4 4 4 5 5 7 9: mean 5, squares sum to 32, 32 / 7.
  const OffsetCounts counts = offsets({{2, 1}, {4, 3}, {5, 2}, {7, 1}, {9, 1}});
  EXPECT_DOUBLE_EQ(counts.mean(), 5.0);
  EXPECT_NEAR(counts.stddev(), 2.1380899, 1e-7);
  const std::int64_t far = std::int64_t{1} << 40;
  EXPECT_NEAR(offsets({{far, 1}, {far + 1, 1}}).stddev(), 0.70710678, 1e-8);
  EXPECT_EQ(offsets({{9, 1}}).stddev(), 0.0);
  EXPECT_TRUE(offsets({{3, 0}}).counts().empty());
}

TEST(OffsetCounts, HaveAsModeTheMostFrequentThenTheNearestThenTheSmaller) {
  EXPECT_EQ(offsets({{1, 2}, {9, 3}}).mode(), 9);
  EXPECT_EQ(offsets({{-5, 3}, {4, 3}, {9, 3}}).mode(), 4);
  EXPECT_EQ(offsets({{-4, 3}, {4, 3}}).mode(), -4);
  EXPECT_EQ(offsets({{std::numeric_limits<std::int64_t>::min(), 1}, {5, 1}}).mode(), 5);
}

TEST(OffsetCounts, MergeInAnyOrder) {
  std::mt19937 random(7);
  const auto draw = [&random] {
    OffsetCounts counts;
    for (int i = 0; i < 50; ++i) {
      counts.add(static_cast<std::int64_t>(random() % 40) - 20, random() % 5);
    }
    return counts;
  };
  for (int round = 0; round < 20; ++round) {
    const OffsetCounts a = draw(), b = draw(), c = draw();
    OffsetCounts left = a, bc = b, right = a, reversed = c, doubled = a;
    (left += b) += c;
    right += (bc += c);
    (reversed += b) += a;
    EXPECT_EQ(left.counts(), right.counts());
    EXPECT_EQ(left.counts(), reversed.counts());
    EXPECT_EQ(left.total(), a.total() + b.total() + c.total());
    doubled += doubled;
    EXPECT_EQ(doubled.total(), 2 * a.total());
    EXPECT_EQ(doubled.count_at(a.mode()), 2 * a.count_at(a.mode()));
  }
}

TEST(Summary, MarksOnlyTheQuantilesAmongTheCensored) {
  const auto distance = summarize(offsets({{1, 95}, {4751, 5}}), 4751);
  ASSERT_TRUE(distance);
  EXPECT_FALSE(distance->p50_at_least);
  EXPECT_FALSE(distance->p90_at_least);
  EXPECT_TRUE(distance->p99_at_least);
  EXPECT_TRUE(distance->max_at_least);
  EXPECT_FALSE(summarize(offsets({{4750, 1}}), 4751)->max_at_least);
  EXPECT_FALSE(summarize(offsets({{9000, 1}}), std::nullopt)->max_at_least);
  EXPECT_FALSE(summarize({}, std::nullopt).has_value());
}

TEST(Summary, ScalesLengthsButNotShares) {
  const auto plain = summarize(offsets({{-1, 1}, {2, 3}, {10, 1}}), std::nullopt);
  const auto scaled = summarize(offsets({{-1, 1}, {2, 3}, {10, 1}}), std::nullopt, 0.25);
  ASSERT_TRUE(plain && scaled);
  EXPECT_EQ(scaled->min, -0.25);
  EXPECT_EQ(scaled->p50, 0.5);
  EXPECT_EQ(scaled->max, 2.5);
  EXPECT_EQ(scaled->mode, 0.5);
  EXPECT_DOUBLE_EQ(scaled->mean, plain->mean / 4);
  EXPECT_DOUBLE_EQ(scaled->stddev, plain->stddev / 4);
  EXPECT_DOUBLE_EQ(scaled->mode_share, 0.6);
}

}  // namespace
}  // namespace skid::analysis
