#include "analysis/hypergeometric.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <boost/math/distributions/chi_squared.hpp>
#include <gtest/gtest.h>

namespace skid::analysis {
namespace {

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

double probability(double total, double marked, double drawn, double count) {
  return std::exp(log_choose(marked, count) + log_choose(total - marked, drawn - count) -
                  log_choose(total, drawn));
}

struct Lot {
  std::uint64_t total, marked, drawn;
};

TEST(Hypergeometric, DrawsWithItsProbabilities) {
  constexpr std::uint64_t kDraws = 40'000;
  Random random(11);
  for (const Lot& lot :
       {Lot{20, 7, 9}, Lot{20, 13, 9}, Lot{20, 13, 15}, Lot{50, 25, 25}, Lot{1000, 11, 500},
        Lot{1000, 500, 12}, Lot{5000, 300, 4000}, Lot{20'000, 200, 10'000},
        Lot{20'000, 19'000, 300}, Lot{100'000, 40'000, 20'000}, Lot{1'000'000, 20, 900'000}}) {
    const std::uint64_t lowest =
        lot.marked + lot.drawn > lot.total ? lot.marked + lot.drawn - lot.total : 0;
    const std::uint64_t highest = std::min(lot.marked, lot.drawn);
    std::vector<double> seen(highest + 1);
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const std::uint64_t count = draw_hypergeometric(random, lot.total, lot.marked, lot.drawn);
      ASSERT_GE(count, lowest);
      ASSERT_LE(count, highest);
      ++seen[count];
    }
    // Neighbours share a class until five draws are to be expected in it.
    double chi_square = 0, expected = 0, drawn = 0;
    int classes = 0;
    for (std::uint64_t count = lowest; count <= highest; ++count) {
      expected +=
          kDraws * probability(static_cast<double>(lot.total), static_cast<double>(lot.marked),
                               static_cast<double>(lot.drawn), static_cast<double>(count));
      drawn += seen[count];
      if (expected < 5) continue;
      chi_square += (drawn - expected) * (drawn - expected) / expected;
      ++classes;
      expected = drawn = 0;
    }
    ASSERT_GT(classes, 2);
    const boost::math::chi_squared distribution(classes);
    EXPECT_GT(boost::math::cdf(boost::math::complement(distribution, chi_square)), 1e-3)
        << lot.marked << " of " << lot.total << ", " << lot.drawn << " drawn";
  }
}

TEST(Hypergeometric, DrawsWhatIsCertain) {
  Random random(1);
  EXPECT_EQ(draw_hypergeometric(random, 0, 0, 0), 0u);
  EXPECT_EQ(draw_hypergeometric(random, 9, 9, 4), 4u);
  EXPECT_EQ(draw_hypergeometric(random, 9, 4, 9), 4u);
  EXPECT_EQ(draw_hypergeometric(random, 9, 0, 4), 0u);
}

TEST(Hypergeometric, RefusesMoreThanThereIs) {
  Random random(1);
  EXPECT_THROW(draw_hypergeometric(random, 9, 10, 4), std::invalid_argument);
  EXPECT_THROW(draw_hypergeometric(random, 9, 4, 10), std::invalid_argument);
  EXPECT_THROW(draw_hypergeometric(random, kLargestLot + 1, 4, 1), std::invalid_argument);
}

TEST(Hypergeometric, GivesTheSameForTheSameSeed) {
  Random random(2026);
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < 8; ++i) drawn.push_back(draw_hypergeometric(random, 20'000, 4'000, 9'000));
  EXPECT_EQ(drawn, (std::vector<std::uint64_t>{1811, 1825, 1813, 1829, 1788, 1788, 1846, 1799}));
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
  for (std::uint64_t total_a = 1; total_a <= 9; ++total_a) {
    for (std::uint64_t total_b = 1; total_b <= 9; ++total_b) {
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
  EXPECT_NEAR(p_of(kLongestExact * 0.99), p_of(kLongestExact * 1.01), 1e-4);
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

}  // namespace
}  // namespace skid::analysis
