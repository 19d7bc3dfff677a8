#include "analysis/repeats.h"

#include "tests/unit/example_measurements.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

using examples::Example;
using examples::make;

std::vector<const Measurement*> pointers(const std::vector<Measurement>& measurements) {
  std::vector<const Measurement*> all;
  for (const Measurement& measurement : measurements) all.push_back(&measurement);
  return all;
}

Measurement repeat(int number, const Example& example) {
  Measurement measurement = make(example);
  measurement.repeat = number;
  return measurement;
}

TEST(Repeats, HaveTheSameEventLevelAndMachine) {
  std::vector<Measurement> measurements;
  for (const int number : {1, 2, 3}) {
    for (const int level : {0, 2}) {
      measurements.push_back(repeat(number, {.level = level, .offsets = {{0, 5}, {3, 5}}}));
    }
  }
  measurements.push_back(repeat(4, {.level = 2, .offsets = {{0, 5}}}));
  measurements.back().kernel = "another";
  measurements.push_back(repeat(4, {.event = "execute", .level = 2, .offsets = {{0, 5}}}));
  measurements.push_back(repeat(4, {.level = 2, .offsets = {{0, 5}}}));
  measurements.back().period.requested = 7;
  const auto repeats = repeats_of(pointers(measurements));
  ASSERT_EQ(repeats.size(), 2u);
  for (const std::size_t i : {0u, 1u}) {
    ASSERT_EQ(repeats[i].runs.size(), 3u);
    for (const std::size_t run : {0u, 1u, 2u}) {
      EXPECT_EQ(repeats[i].runs[run], &measurements[2 * run + i]);
    }
  }
  EXPECT_TRUE(repeats_of({}).empty());
}

TEST(Repeats, HaveTheMeanOfTheRunsAndStudentsInterval) {
  // Hit ratios 10%, 20% and 30% of many samples: deviation 10%, t(2) = 4.303, cut at 0.
  std::vector<Measurement> measurements;
  for (const int tenths : {1, 2, 3}) {
    const auto hits = static_cast<std::uint64_t>(10'000 * tenths);
    measurements.push_back(repeat(tenths, {.offsets = {{0, hits}, {10 * tenths, 100'000 - hits}}}));
  }
  const auto repeats = repeats_of(pointers(measurements));
  ASSERT_EQ(repeats.size(), 1u);
  ASSERT_TRUE(repeats[0].hit_ratio && repeats[0].mean && repeats[0].median);
  EXPECT_EQ(repeats[0].hit_ratio->runs, 3u);
  EXPECT_NEAR(repeats[0].hit_ratio->interval.value, 0.2, 1e-12);
  EXPECT_EQ(repeats[0].hit_ratio->interval.low, 0);
  EXPECT_NEAR(repeats[0].hit_ratio->interval.high, 0.2 + 4.302653 * 0.1 / std::sqrt(3), 1e-6);
  EXPECT_NEAR(repeats[0].mean->interval.value, (9 + 16 + 21) / 3.0, 1e-12);
  EXPECT_NEAR(repeats[0].median->interval.value, 20, 0.5);
  EXPECT_FALSE(repeats[0].median->at_least);
}

TEST(Repeats, OfCensoredMediansAreLowerBounds) {
  std::vector<Measurement> measurements;
  measurements.push_back(repeat(1, {.offsets = {{1, 40}, {4900, 60}}}));
  measurements.push_back(repeat(2, {.offsets = {{1, 60}, {4900, 40}}}));
  const auto repeats = repeats_of(pointers(measurements));
  ASSERT_EQ(repeats.size(), 1u);
  EXPECT_TRUE(repeats[0].median.value().at_least);
  EXPECT_TRUE(repeats[0].mean.value().at_least);
  EXPECT_FALSE(repeats[0].hit_ratio.value().at_least);
}

TEST(Repeats, WithoutJudgedSamplesHaveNoValues) {
  std::vector<Measurement> measurements;
  for (const int number : {1, 2}) {
    measurements.push_back(repeat(number, {.offsets = {}, .kernel_samples = 9}));
  }
  measurements.push_back(repeat(3, {.offsets = {{1, 9}}}));
  const auto repeats = repeats_of(pointers(measurements));
  ASSERT_EQ(repeats.size(), 1u);
  EXPECT_EQ(repeats[0].runs.size(), 3u);
  EXPECT_FALSE(repeats[0].hit_ratio || repeats[0].median || repeats[0].mean);
}

}  // namespace
}  // namespace skid::analysis
