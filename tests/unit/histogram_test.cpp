#include "analysis/histogram.h"

#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skid::analysis {

bool operator==(const Bin& a, const Bin& b) {
  return a.lo == b.lo && a.hi == b.hi && a.count == b.count;
}
void PrintTo(const Bin& bin, std::ostream* out) {
  *out << '[' << bin.lo << ", " << bin.hi << "): " << bin.count;
}

namespace {

using Bins = std::vector<Bin>;

TEST(SkidHistogram, KeepsEveryCountOfALevelAndEvent) {
  SkidHistogram histogram(-2, 5);
  histogram.add(0, 2, "access", 7);
  histogram.add(0, 2, "access", 1);
  histogram.add(-2, 2, "access", 3);
  histogram.add(5, 2, "access", 4);
  histogram.add(1, 1, "access", 9);
  histogram.add(1, 2, "faults", 11);
  EXPECT_EQ(histogram.slice(2, "access").bins, (Bins{{-2, -1, 3}, {0, 1, 8}, {5, 6, 4}}));
  EXPECT_EQ(histogram.slice(1, "access").bins, (Bins{{1, 2, 9}}));
  EXPECT_EQ(histogram.slice(2, "faults").bins, (Bins{{1, 2, 11}}));
}

TEST(SkidHistogram, OffsetsBeyondTheAxisAreCountedBelowAndAbove) {
  SkidHistogram histogram(-2, 5);
  histogram.add(-3, 0, "e", 1);
  histogram.add(std::numeric_limits<std::int64_t>::min(), 0, "e", 2);
  histogram.add(6, 0, "e", 4);
  histogram.add(std::numeric_limits<std::int64_t>::max(), 0, "e", 8);
  const HistogramSlice slice = histogram.slice(0, "e");
  EXPECT_TRUE(slice.bins.empty());
  EXPECT_EQ(slice.underflow, 3u);
  EXPECT_EQ(slice.overflow, 12u);
}

TEST(SkidHistogram, WideBinsBeginAtMultiplesOfTheirWidth) {
  SkidHistogram histogram(-7, 20);
  for (std::int64_t offset = -7; offset <= 20; ++offset) histogram.add(offset, 0, "e", 1);
  EXPECT_EQ(
      histogram.slice(0, "e", 5).bins,
      (Bins{
          {-10, -5, 2}, {-5, 0, 5}, {0, 5, 5}, {5, 10, 5}, {10, 15, 5}, {15, 20, 5}, {20, 25, 1}}));
}

TEST(SkidHistogram, BinsOfAnyWidthHoldTheSameTotal) {
  std::mt19937 random(3);
  SkidHistogram histogram(-100, 1000);
  std::uint64_t added = 0;
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t count = random() % 9;
    histogram.add(static_cast<std::int64_t>(random() % 1300) - 200, 3, "e", count);
    added += count;
  }
  const std::int64_t widest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t width : {std::int64_t{1}, std::int64_t{7}, std::int64_t{5000}, widest}) {
    const HistogramSlice slice = histogram.slice(3, "e", width);
    std::uint64_t sum = slice.underflow + slice.overflow;
    for (const Bin& bin : slice.bins) sum += bin.count;
    EXPECT_EQ(sum, added) << width;
  }
}

TEST(SkidHistogram, OfAnUnknownEventOrLevelIsEmpty) {
  SkidHistogram histogram(0, 3);
  histogram.add(1, 0, "known", 1);
  EXPECT_TRUE(histogram.slice(0, "unknown").bins.empty());
  EXPECT_TRUE(histogram.slice(1, "known").bins.empty());
  EXPECT_TRUE(histogram.slice(7, "known").bins.empty());
}

TEST(SkidHistogram, CountsBeyondADoublesDigitsStayExact) {
  SkidHistogram histogram(0, 1);
  const std::uint64_t large = (std::uint64_t{1} << 60) + 1;
  histogram.add(0, 0, "e", large);
  histogram.add(0, 0, "e", 1);
  EXPECT_EQ(histogram.slice(0, "e").bins, (Bins{{0, 1, large + 1}}));
}

SkidHistogram of_events(const std::vector<std::string>& events, std::uint64_t count) {
  SkidHistogram histogram(-1, 9);
  for (const std::string& event : events) {
    histogram.add(-5, 0, event, count);
    histogram.add(3, 1, event, count);
    histogram.add(12, 2, event, count);
    count *= 10;
  }
  return histogram;
}

TEST(SkidHistogram, MergesEventsByNameWhateverTheirOrder) {
  SkidHistogram merged = of_events({"a", "b"}, 1);
  merged += of_events({"c", "b", "a"}, 100);
  EXPECT_EQ(merged.slice(1, "a").bins, (Bins{{3, 4, 10001}}));
  EXPECT_EQ(merged.slice(1, "b").bins, (Bins{{3, 4, 1010}}));
  EXPECT_EQ(merged.slice(1, "c").bins, (Bins{{3, 4, 100}}));
  EXPECT_EQ(merged.slice(0, "a").underflow, 10001u);
  EXPECT_EQ(merged.slice(2, "b").overflow, 1010u);
}

TEST(SkidHistogram, MergingIsAssociative) {
  const SkidHistogram a = of_events({"x", "y"}, 1), b = of_events({"z", "x"}, 3),
                      c = of_events({"y", "w"}, 5);
  SkidHistogram left = a, right = a, bc = b;
  (left += b) += c;
  bc += c;
  right += bc;
  for (const char* event : {"w", "x", "y", "z"}) {
    EXPECT_EQ(left.slice(1, event).bins, right.slice(1, event).bins) << event;
    EXPECT_EQ(left.slice(0, event).underflow, right.slice(0, event).underflow) << event;
  }
}

TEST(SkidHistogram, MergesWithAnEmptyOneAndWithItself) {
  SkidHistogram histogram(-1, 9);
  histogram += of_events({"a"}, 2);
  histogram += SkidHistogram(-1, 9);
  histogram += histogram;
  EXPECT_EQ(histogram.slice(1, "a").bins, (Bins{{3, 4, 4}}));
}

TEST(SkidHistogram, RefusesToMergeOtherOffsets) {
  SkidHistogram histogram(-1, 9);
  EXPECT_THROW(histogram += SkidHistogram(-1, 10), std::invalid_argument);
  EXPECT_THROW(histogram += SkidHistogram(-2, 9), std::invalid_argument);
}

TEST(SkidHistogram, RefusesWhatIsNoAxisLevelOrBin) {
  EXPECT_THROW(SkidHistogram(1, 0), std::invalid_argument);
  EXPECT_THROW(SkidHistogram(0, kLongestAxis), std::invalid_argument);
  EXPECT_THROW(SkidHistogram(std::numeric_limits<std::int64_t>::min(), 0), std::invalid_argument);
  SkidHistogram histogram(0, 1);
  EXPECT_THROW(histogram.add(0, 4, "e", 1), std::invalid_argument);
  EXPECT_THROW(histogram.add(0, -1, "e", 1), std::invalid_argument);
  EXPECT_THROW(histogram.slice(0, "e", 0), std::invalid_argument);
}

}  // namespace
}  // namespace skid::analysis
