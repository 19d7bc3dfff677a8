#include "analysis/repeats.h"

#include "analysis/measurement.h"
#include "analysis/share.h"
#include "analysis/two_sample.h"
#include "src/support/random.h"
#include "tests/support/offset_models.h"
#include "tests/support/text.h"
#include "tests/unit/example_measurements.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace skid::analysis {
namespace {

using namespace examples;
using test::OffsetModel;

TEST(OverRuns, TheMeanOfEqualValuesIsEachOfThem) {
  for (const double value : {1.0, 0.1, 2.0 / 3, 1e-9, 12345.678}) {
    for (std::size_t runs = 1; runs <= 100; ++runs) {
      EXPECT_EQ(mean_of(std::vector<RunValue>(runs, {value, 0})), value) << runs;
    }
  }
  EXPECT_EQ(mean_of({}), 0.0);
}

TEST(OverRuns, IntervalIsStudentsOfTheRuns) {
  // 1, 2, 3: mean 2, deviation 1, t(2) = 4.303.
  const std::vector<RunValue> runs{{1, 0}, {2, 0}, {3, 0}};
  const auto interval = interval_over_runs(runs);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->value, 2);
  EXPECT_NEAR(interval->high - 2, 4.302653 / std::sqrt(3), 1e-6);
  EXPECT_NEAR(2 - interval->low, 4.302653 / std::sqrt(3), 1e-6);
}

TEST(OverRuns, IntervalIsNeverNarrowerThanSamplingMakesIt) {
  const std::vector<RunValue> runs{{0.5, 0.01}, {0.5, 0.02}, {0.5, 0.03}};
  const auto interval = interval_over_runs(runs);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->high - 0.5, 1.959964 * std::sqrt(0.06) / 3, 1e-6);
  const std::vector<RunValue> one{{1, 0.1}}, three{{1, 0.1}, {2, 0.1}, {4, 0.1}};
  EXPECT_FALSE(interval_over_runs(one).has_value());
  EXPECT_FALSE(difference_over_runs(one, one).has_value());
  EXPECT_FALSE(difference_over_runs(three, {}).has_value());
  EXPECT_TRUE(difference_over_runs(three, one).has_value());
  EXPECT_TRUE(difference_over_runs(one, three).has_value());
}

TEST(OverRuns, AllHitsInAllRunsStillHaveAWidth) {
  const RunValue all = run_value(wilson_interval(5000, 5000));
  EXPECT_EQ(all.value, 1);
  EXPECT_GT(all.sampling_variance, 0);
  const auto interval = interval_over_runs(std::vector<RunValue>(3, all));
  ASSERT_TRUE(interval);
  EXPECT_LT(interval->low, 0.9998);
  EXPECT_GT(interval->low, 0.999);
}

// Student's sleep data (1908) as R gives it: t.test(extra ~ group), Welch.
TEST(OverRuns, DifferenceIsWelchs) {
  std::vector<RunValue> a, b;
  for (const double extra : {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}) {
    a.push_back({extra, 0});
  }
  for (const double extra : {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}) {
    b.push_back({extra, 0});
  }
  const auto difference = difference_over_runs(a, b);
  ASSERT_TRUE(difference);
  EXPECT_NEAR(difference->value, 1.58, 1e-9);
  EXPECT_NEAR(difference->p, 0.07939, 5e-6);
  EXPECT_NEAR(difference->low, -0.2054832, 1e-6);
  EXPECT_NEAR(difference->high, 3.3654832, 1e-6);
}

TEST(OverRuns, RunsThatDoNotVaryAtAllDifferForCertain) {
  const std::vector<RunValue> zero(3, RunValue{0, 0}), one(3, RunValue{1, 0});
  EXPECT_EQ(difference_over_runs(zero, one)->p, 0);
  EXPECT_EQ(difference_over_runs(zero, zero)->p, 1);
  EXPECT_EQ(difference_over_runs(zero, one)->low, 1);
}

TEST(OverRuns, ValuesOfARunHaveTheVarianceOfSampling) {
  constexpr int kRounds = 600;
  Random random(61);
  const auto model = OffsetModel::normal(50, 15);
  double of_mean = 0, of_median = 0, means = 0, medians = 0, mean_squares = 0, median_squares = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto drawn = model.draw(random, 400);
    const RunValue mean = run_mean(drawn).value();
    const RunValue median = run_quantile(drawn, 0.5).value();
    of_mean += mean.sampling_variance / kRounds;
    of_median += median.sampling_variance / kRounds;
    means += mean.value / kRounds;
    medians += median.value / kRounds;
    mean_squares += mean.value * mean.value / kRounds;
    median_squares += median.value * median.value / kRounds;
  }
  EXPECT_NEAR((mean_squares - means * means) / of_mean, 1, 0.25);
  EXPECT_NEAR((median_squares - medians * medians) / of_median, 1, 0.25);
}

/// Runs whose value differs by a run effect and by sampling.
std::vector<RunValue> draw_runs(Random& random, std::size_t runs, double between, double sampling) {
  std::vector<RunValue> drawn;
  for (std::size_t i = 0; i < runs; ++i) {
    drawn.push_back({between * random.normal() + sampling * random.normal(), sampling * sampling});
  }
  return drawn;
}

TEST(OverRuns, HoldsItsLevelWhereRunsVary) {
  constexpr int kRounds = 400;
  Random random(67);
  const auto most = [](double level) {
    return level * kRounds + 3.5 * std::sqrt(level * (1 - level) * kRounds);
  };
  for (const auto& [n, m] : {std::pair{3u, 3u}, std::pair{5u, 5u}, std::pair{1u, 3u},
                             std::pair{5u, 1u}, std::pair{2u, 4u}}) {
    for (const double between : {0.0, 0.5, 3.0}) {
      int rejected = 0, missed = 0;
      for (int round = 0; round < kRounds; ++round) {
        const auto a = draw_runs(random, n, between, 1);
        const auto b = draw_runs(random, m, between, 1);
        const Difference difference = difference_over_runs(a, b).value();
        rejected += difference.p <= 0.05;
        missed += difference.low > 0 || difference.high < 0;
      }
      EXPECT_LE(rejected, most(0.05)) << n << ' ' << m << ' ' << between;
      EXPECT_EQ(rejected, missed);  // the interval and p are one computation
    }
  }
}

TEST(OverRuns, IntervalCoversTheMeanWhereRunsVary) {
  constexpr int kRounds = 400;
  Random random(71);
  for (const unsigned runs : {2u, 3u, 5u}) {
    for (const double between : {0.0, 1.0, 10.0}) {
      int covered = 0;
      for (int round = 0; round < kRounds; ++round) {
        const auto interval = interval_over_runs(draw_runs(random, runs, between, 1)).value();
        covered += interval.low <= 0 && 0 <= interval.high;
      }
      EXPECT_GE(covered, 0.95 * kRounds - 3.5 * std::sqrt(0.95 * 0.05 * kRounds))
          << runs << ' ' << between;
    }
  }
}

std::vector<const Measurement*> pointers(const std::vector<Measurement>& measurements) {
  return test::mapped(measurements, [](const Measurement& one) { return &one; });
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
