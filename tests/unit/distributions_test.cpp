#include "analysis/distributions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

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

}  // namespace
}  // namespace skid::analysis
