#include "analysis/histogram.h"

#include "analysis/basis.h"
#include "analysis/distributions.h"
#include "tests/support/prelude.h"

#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace skid::analysis {

bool operator==(const Bin& a, const Bin& b) {
  return a.lo == b.lo && a.hi == b.hi && a.count == b.count && a.by_class == b.by_class;
}
void PrintTo(const Bin& bin, std::ostream* out) {
  *out << '[' << bin.lo << ", " << bin.hi << "):";
  for (const std::uint64_t count : bin.by_class) *out << ' ' << count;
}

namespace {

using Bins = std::vector<Bin>;
using Pairs = std::vector<std::pair<std::int64_t, std::uint64_t>>;
constexpr auto kLowest64 = std::numeric_limits<std::int64_t>::min();
constexpr auto kHighest64 = std::numeric_limits<std::int64_t>::max();

Tally tally_of(const Pairs& offsets, const Pairs& censored = {}) {
  Tally tally;
  for (const auto& [offset, count] : offsets) tally.instructions.add(offset, count);
  for (const auto& [offset, count] : censored) tally.censored.add(offset, count);
  return tally;
}

TEST(Histogram, CountsEachClassOfAnOffset) {
  // Of four samples at 5 one is censored: it is on the shorter of two runways.
  const auto histogram =
      histogram_of(tally_of({{0, 7}, {0, 1}, {-2, 3}, {5, 4}}, {{5, 1}}), {-2, 5});
  EXPECT_EQ(histogram.bins,
            (Bins{{-2, -1, 3, {0, 0, 3, 0}}, {0, 1, 8, {8, 0, 0, 0}}, {5, 6, 4, {0, 3, 0, 1}}}));
  EXPECT_EQ(histogram.underflow + histogram.overflow, 0u);
  EXPECT_TRUE(histogram_of({}, {-2, 5}).bins.empty());
}

TEST(Histogram, CountsOffsetsBeyondTheAxisBelowAndAbove) {
  const Tally far = tally_of({{-3, 1}, {kLowest64, 2}, {6, 4}, {kHighest64, 8}}, {{6, 4}});
  for (const std::int64_t width : {1, 4, 100}) {
    const auto histogram = histogram_of(far, {-2, 5, width});
    EXPECT_TRUE(histogram.bins.empty()) << width;
    EXPECT_EQ(histogram.underflow, 3u);
    EXPECT_EQ(histogram.overflow, 12u);
  }
}

TEST(Histogram, BeginsWideBinsAtMultiplesOfTheirWidth) {
  Tally tally = tally_of({}, {{19, 1}, {20, 1}});
  for (std::int64_t offset = -7; offset <= 20; ++offset) tally.instructions.add(offset, 1);
  EXPECT_EQ(histogram_of(tally, {-7, 20, 5}).bins, (Bins{{-10, -5, 2, {0, 0, 2, 0}},
                                                         {-5, 0, 5, {0, 0, 5, 0}},
                                                         {0, 5, 5, {1, 4, 0, 0}},
                                                         {5, 10, 5, {0, 5, 0, 0}},
                                                         {10, 15, 5, {0, 5, 0, 0}},
                                                         {15, 20, 5, {0, 4, 0, 1}},
                                                         {20, 25, 1, {0, 0, 0, 1}}}));
}

TEST(Histogram, HoldsTheSameTotalWithBinsOfAnyWidth) {
  std::mt19937 random(3);
  std::uniform_int_distribution<std::int64_t> offset(-50, 2050);
  Tally tally;
  for (int i = 0; i < 3000; ++i) tally.instructions.add(offset(random), 1);
  for (const std::int64_t width : {1, 7, 100, 5000}) {
    const auto histogram = histogram_of(tally, {-32, 2000, width});
    std::uint64_t total = histogram.underflow + histogram.overflow;
    for (const Bin& bin : histogram.bins) total += bin.count;
    EXPECT_EQ(total, 3000u) << width;
  }
}

TEST(Histogram, RefusesAxesThatHaveNoBins) {
  for (const OffsetAxis& axis :
       {OffsetAxis{1, 0, 1}, {0, 1, 0}, {kLowest64, kHighest64, 1}, {0, kHighest64, 2}}) {
    EXPECT_THROW(histogram_of({}, axis), std::invalid_argument);
  }
  EXPECT_NO_THROW(histogram_of(tally_of({{0, 1}}), {-kLongestAxis, kLongestAxis}));
}

}  // namespace
}  // namespace skid::analysis
