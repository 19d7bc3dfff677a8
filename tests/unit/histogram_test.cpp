#include "analysis/histogram.h"

#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skid::analysis {

bool operator==(const Bin& a, const Bin& b) {
  return a.lo == b.lo && a.hi == b.hi && a.count == b.count && a.censored == b.censored;
}
void PrintTo(const Bin& bin, std::ostream* out) {
  *out << '[' << bin.lo << ", " << bin.hi << "): " << bin.count << ", " << bin.censored;
}

namespace {

using Bins = std::vector<Bin>;
constexpr auto kLowest64 = std::numeric_limits<std::int64_t>::min();
constexpr auto kHighest64 = std::numeric_limits<std::int64_t>::max();

OffsetCounts counts(const std::vector<std::pair<std::int64_t, std::uint64_t>>& all) {
  OffsetCounts counts;
  for (const auto& [offset, count] : all) counts.add(offset, count);
  return counts;
}

TEST(Histogram, HasABinForEachOffsetWithSamples) {
  const auto histogram =
      histogram_of(counts({{0, 7}, {0, 1}, {-2, 3}, {5, 4}}), counts({{5, 1}}), -2, 5, 1);
  EXPECT_EQ(histogram.bins, (Bins{{-2, -1, 3, 0}, {0, 1, 8, 0}, {5, 6, 4, 1}}));
  EXPECT_EQ(histogram.underflow + histogram.overflow, 0u);
  EXPECT_TRUE(histogram_of({}, {}, -2, 5, 1).bins.empty());
}

TEST(Histogram, CountsOffsetsBeyondTheAxisBelowAndAbove) {
  const auto far = counts({{-3, 1}, {kLowest64, 2}, {6, 4}, {kHighest64, 8}});
  for (const std::int64_t width : {1, 4, 100}) {
    const auto histogram = histogram_of(far, counts({{6, 4}}), -2, 5, width);
    EXPECT_TRUE(histogram.bins.empty()) << width;
    EXPECT_EQ(histogram.underflow, 3u);
    EXPECT_EQ(histogram.overflow, 12u);
  }
}

TEST(Histogram, BeginsWideBinsAtMultiplesOfTheirWidth) {
  OffsetCounts offsets;
  for (std::int64_t offset = -7; offset <= 20; ++offset) offsets.add(offset, 1);
  EXPECT_EQ(histogram_of(offsets, counts({{19, 1}, {20, 1}}), -7, 20, 5).bins,
            (Bins{{-10, -5, 2, 0},
                  {-5, 0, 5, 0},
                  {0, 5, 5, 0},
                  {5, 10, 5, 0},
                  {10, 15, 5, 0},
                  {15, 20, 5, 1},
                  {20, 25, 1, 1}}));
}

TEST(Histogram, HoldsTheSameTotalWithBinsOfAnyWidth) {
  std::mt19937 random(3);
  std::uniform_int_distribution<std::int64_t> offset(-50, 2050);
  OffsetCounts offsets;
  for (int i = 0; i < 3000; ++i) offsets.add(offset(random), 1);
  for (const std::int64_t width : {1, 7, 100, 5000}) {
    const auto histogram = histogram_of(offsets, {}, -32, 2000, width);
    std::uint64_t total = histogram.underflow + histogram.overflow;
    for (const Bin& bin : histogram.bins) total += bin.count;
    EXPECT_EQ(total, 3000u) << width;
  }
}

TEST(Histogram, RefusesAxesThatNoTargetHas) {
  EXPECT_THROW(histogram_of({}, {}, 1, 0, 1), std::invalid_argument);
  EXPECT_THROW(histogram_of({}, {}, 0, 1, 0), std::invalid_argument);
  EXPECT_THROW(histogram_of({}, {}, 0, kLongestAxis, 1), std::invalid_argument);
  EXPECT_THROW(histogram_of({}, {}, kLowest64, kHighest64, 1), std::invalid_argument);
  EXPECT_NO_THROW(histogram_of(counts({{0, 1}}), {}, 0, kLongestAxis - 1, 1));
}

}  // namespace
}  // namespace skid::analysis
