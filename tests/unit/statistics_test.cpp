// Counts of offsets, their residues, shares, and distributions of test statistics against published
// and exact values.

#include "analysis/distance.h"
#include "analysis/distributions.h"
#include "analysis/evenness.h"
#include "analysis/offset_counts.h"
#include "analysis/retirement_groups.h"
#include "analysis/share.h"
#include "src/output/page.h"
#include "src/support/random.h"
#include "tests/support/offset_models.h"
#include "tests/support/prelude.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace skid::analysis {
namespace {

using test::OffsetModel;
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

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

double probability(double total, double marked, double drawn, double count) {
  return std::exp(log_choose(marked, count) + log_choose(total - marked, drawn - count) -
                  log_choose(total, drawn));
}

TEST(Distributions, AgreeWithPublishedTables) {
  EXPECT_NEAR(normal_reach(0.95), 1.959963985, 1e-8);
  EXPECT_NEAR(student_reach(2, 0.95), 4.302652730, 1e-8);
  EXPECT_NEAR(student_p(10, -2.228138852), 0.05, 1e-8);
  EXPECT_NEAR(chi_square_p(3, 7.814727903), 0.05, 1e-8);
  // Of many degrees it is an approximation, which continues the exact values.
  for (const double deviations : {-4.0, 0.0, 2.0, 5.0}) {
    const double exact = chi_square_p(1000, 1000 + deviations * std::sqrt(2000));
    const double next = chi_square_p(1001, 1001 + deviations * std::sqrt(2002));
    EXPECT_NEAR(next / exact, 1, 0.01) << deviations;
  }
  EXPECT_EQ(chi_square_p(5000, 0), 1);
  EXPECT_EQ(chi_square_p(5000, 1e9), 0);
  EXPECT_NEAR(beta_quantile(1, 1, 0.3), 0.3, 1e-12);
  EXPECT_NEAR(beta_quantile_complement(1, 1, 0.3), 0.7, 1e-12);
}

TEST(Pearson3, IsNormalWithoutSkewnessAndExponentialWithSkewness2) {
  EXPECT_NEAR(pearson3_p(1.959963985, 0), 0.05, 1e-8);
  EXPECT_NEAR(pearson3_p(3, 2), 2 * std::exp(-4), 1e-9);
  EXPECT_EQ(pearson3_p(-3, -2), pearson3_p(3, 2));
  EXPECT_EQ(pearson3_p(-1.5, 2), 0) << "below the least value";
}

TEST(Fisher, AgreesWithExactSums) {
  struct Table {
    std::uint64_t count_a, total_a, count_b, total_b;
    double p;
  };
  // Summed in whole numbers of any size.
  for (const Table& t :
       {Table{3, 4, 1, 4, 0.4857142857142857}, Table{1, 12, 11, 14, 0.00047920312289675596},
        Table{10, 13, 2, 17, 0.0005367241191434358}, Table{0, 30, 8, 40, 0.008766370095911646},
        Table{500, 1000, 560, 1000, 0.008193461025460338},
        Table{9990, 10000, 4970, 5000, 8.137975123903138e-08},
        Table{20, 5000, 90, 5000, 6.753589299299282e-12}}) {
    const double p = fisher_exact_p(t.count_a, t.total_a, t.count_b, t.total_b);
    EXPECT_NEAR(p / t.p, 1, 1e-9) << t.count_a << '/' << t.total_a << ", " << t.count_b;
    EXPECT_NEAR(fisher_exact_p(t.count_b, t.total_b, t.count_a, t.total_a) / p, 1, 1e-9);
  }
}

TEST(Fisher, IsTheSumOverAllTablesThatAreAtMostAsLikely) {
  for (std::uint64_t total_a = 1; total_a <= 6; ++total_a) {
    for (std::uint64_t total_b = 1; total_b <= 6; ++total_b) {
      for (std::uint64_t marked = 0; marked <= total_a + total_b; ++marked) {
        const std::uint64_t lowest = marked > total_b ? marked - total_b : 0;
        const std::uint64_t highest = std::min(marked, total_a);
        const auto of = [&](std::uint64_t count) {
          return probability(static_cast<double>(total_a + total_b), static_cast<double>(marked),
                             static_cast<double>(total_a), static_cast<double>(count));
        };
        for (std::uint64_t count = lowest; count <= highest; ++count) {
          double p = 0;
          for (std::uint64_t other = lowest; other <= highest; ++other) {
            if (of(other) <= of(count) * (1 + 1e-9)) p += of(other);
          }
          ASSERT_NEAR(fisher_exact_p(count, total_a, marked - count, total_b), p, 1e-9);
        }
      }
    }
  }
}

TEST(Fisher, MeetsItsApproximationWhereItGetsTooLong) {
  // On both sides of kLongestExact the same shares, a z of 1.5 apart.
  const auto p_of = [](double total) {
    const auto half = static_cast<std::uint64_t>(total / 2);
    const auto off = static_cast<std::uint64_t>(1.5 * std::sqrt(total) / 4);
    return fisher_exact_p(half / 2 - off, half, half / 2 + off, half);
  };
  EXPECT_NEAR(p_of(0.99 * kLongestExact), p_of(1.01 * kLongestExact), 1e-3);
}

TEST(Fisher, IsBinomialOfFewAmongMany) {
  constexpr std::uint64_t kMany = 1'000'000'000;
  // All of five hits or misses on one side; one of 20 where 1% is expected.
  EXPECT_NEAR(fisher_exact_p(0, kMany, 5, kMany), 2.0 / 32, 1e-9);
  EXPECT_NEAR(fisher_exact_p(kMany, kMany, kMany - 5, kMany), 2.0 / 32, 1e-9);
  EXPECT_NEAR(fisher_exact_p(1, 20, kMany / 100, kMany), 1 - std::pow(0.99, 20), 1e-6);
  EXPECT_NEAR(fisher_exact_p(kMany / 100, kMany, 1, 20), 1 - std::pow(0.99, 20), 1e-6);
}

TEST(Fisher, OfNothingOrOfAllAlikeIsOne) {
  EXPECT_EQ(fisher_exact_p(0, 0, 3, 9), 1);
  EXPECT_EQ(fisher_exact_p(5, 5, 9, 9), 1);
  EXPECT_EQ(fisher_exact_p(0, 5, 0, 9), 1);
  EXPECT_THROW(fisher_exact_p(6, 5, 0, 9), std::invalid_argument);
}

TEST(Fisher, ReachesFarIntoTheTail) {
  const double p = fisher_exact_p(0, 300, 300, 300);  // one over the number of all choices, twice
  EXPECT_NEAR(std::log(p), std::log(2.0) - log_choose(600, 300), 1e-6);
}

TEST(Residues, CountTheSkidsAlone) {
  const auto counts = offsets({{-3, 100}, {0, 1000}, {1, 5}, {4, 7}, {9, 11}, {50, 13}});
  const auto groups = retirement_groups_of(counts, 50);
  ASSERT_TRUE(groups);
  ASSERT_EQ(groups->moduli.size(), 7u);
  EXPECT_EQ(groups->moduli[0].counts, (std::vector<std::uint64_t>{7, 16}));
  EXPECT_EQ(groups->moduli[2].counts, (std::vector<std::uint64_t>{7, 16, 0, 0}));
  EXPECT_EQ(groups->moduli[6].counts, (std::vector<std::uint64_t>{0, 16, 0, 0, 7, 0, 0, 0}));
  EXPECT_EQ(retirement_groups_of(counts, std::nullopt)->moduli[0].counts,
            (std::vector<std::uint64_t>{20, 16}));
  EXPECT_FALSE(retirement_groups_of(offsets({{0, 1000}, {-2, 10}}), std::nullopt).has_value());
  EXPECT_FALSE(retirement_groups_of({}, std::nullopt).has_value());
}

TEST(Residues, TwoSharpPeaksAreNoGroups) {
  // 7 and 19 lie three times four instructions apart; the rest is smooth.
  Random random(84);
  OffsetCounts peaks = OffsetModel::normal(30, 8).draw(random, 300);
  peaks += offsets({{7, 1331}, {19, 1351}});
  const auto groups = retirement_groups_of(peaks, std::nullopt);
  ASSERT_TRUE(groups);
  EXPECT_FALSE(groups->strongest.has_value());
  EXPECT_FALSE(groups->moduli[2].excess.has_value());
}

/// Offsets of a smooth distribution that retire in groups: the first of the next group is next.
OffsetCounts grouped(const OffsetCounts& smooth, std::int64_t group) {
  OffsetCounts result;
  for (const auto& [offset, count] : smooth.counts()) {
    result.add((offset - 1) / group * group + 1, count);
  }
  return result;
}

TEST(Residues, FindGroupsByTheirSize) {
  Random random(83);
  for (const OffsetModel& model : {OffsetModel::falling(60), OffsetModel::normal(200, 30)}) {
    for (const int group : {2, 3, 4, 5, 6, 7, 8}) {
      const auto groups =
          retirement_groups_of(grouped(model.draw(random, 5000), group), std::nullopt);
      ASSERT_TRUE(groups);
      EXPECT_EQ(groups->strongest, group) << model.name();
    }
  }
}

TEST(Residues, FindGroupsThatOnlySomeSamplesKeepTo) {
  Random random(89);
  const auto model = OffsetModel::normal(150, 25);
  OffsetCounts mixed = grouped(model.draw(random, 2000), 4);
  mixed += model.draw(random, 6000);
  EXPECT_EQ(retirement_groups_of(mixed, std::nullopt)->strongest, 4);
}

TEST(Residues, FindNoneInSmoothDistributions) {
  Random random(97);
  constexpr int kRounds = 30;
  const OffsetCounts peak = offsets({{1, 20'000}});
  for (const OffsetModel& model :
       {OffsetModel::normal(100, 20), OffsetModel::normal(30, 4), OffsetModel::normal(12, 1),
        OffsetModel::falling(15), OffsetModel::falling(80), OffsetModel::even(1, 200),
        OffsetModel::hits_and_tail(0.5, 40)}) {
    int found = 0, uneven = 0, compared = 0;
    for (int round = 0; round < kRounds; ++round) {
      OffsetCounts drawn = model.draw(random, 10'000);
      const auto groups = retirement_groups_of(drawn, std::nullopt);
      found += groups->strongest.has_value();
      for (const Residues& residues : groups->moduli) {
        if (!residues.excess) continue;
        ++compared;
        uneven += residues.excess->p < 0.05;
      }
      // Nor where one offset stands out.
      drawn += peak;
      found += retirement_groups_of(drawn, std::nullopt)->strongest.has_value();
    }
    EXPECT_LE(found, 2) << model.name();
    EXPECT_LE(uneven, 0.08 * compared + 4) << model.name();
  }
}

TEST(Residues, OfANarrowDistributionAreNotCompared) {
  Random random(101);
  const auto groups =
      retirement_groups_of(OffsetModel::normal(12, 1).draw(random, 10'000), std::nullopt);
  ASSERT_TRUE(groups);
  for (const Residues& residues : groups->moduli) {
    EXPECT_FALSE(residues.excess.has_value());
    EXPECT_EQ(std::accumulate(residues.counts.begin(), residues.counts.end(), std::uint64_t{0}),
              10'000u);
  }
}

}  // namespace
}  // namespace skid::analysis
