// Distribution functions and exact tests: the one file that uses Boost.Math.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace skid::analysis {

/// x with P(|Z| <= x) = share of a standard normal Z, 0 < share < 1.
double normal_reach(double share);
/// The same of Student's t.
double student_reach(double degrees, double share);
/// P(|T| >= |t|) of Student's t.
double student_p(double degrees, double t);
/// P(X >= x) of the chi-square distribution; of more than 1,000 degrees by Wilson and Hilferty's
/// approximation.
double chi_square_p(int degrees, double x);

/// Pearson's test of counts against those expected.
struct ChiSquareTest {
  double chi_square = 0;  ///< Pearson's statistic
  int degrees = 0;        ///< of freedom: one fewer than counts
  double p = 1;           ///< chance of a statistic at least as large where the expectation holds
};
/// The count that is to be expected of each cell at least for p to be near.
inline constexpr double kFewestExpected = 5;
/// `expected`: as many, each above 0, with the same sum.
ChiSquareTest chi_square_test(std::span<const double> seen, std::span<const double> expected);

/// The samples of K triggers or places compared with 1/K each. p takes samples for independent of
/// each other.
struct Bias : ChiSquareTest {
  /// The most samples of one of them over the fewest; nullopt where one has no samples.
  std::optional<double> largest_ratio;
};
/// Pearson's test of even shares. `samples`: of at least two places, and not all 0.
Bias pearson_of(std::span<const std::uint64_t> samples);

/// Two-sided p of a statistic with mean 0, variance 1 and this skewness, by Pearson's type III
/// (a shifted gamma distribution): twice the smaller tail.
double pearson3_p(double z, double skewness);
/// P(Z >= z) of the same, for a skewness of at least 0.
double pearson3_upper_p(double z, double skewness);

/// P(X >= x) of the binomial distribution.
double binomial_upper_p(std::uint64_t x, std::uint64_t trials, double share);

/// x with I_x(a, b) = p of the regularised incomplete beta function.
double beta_quantile(double a, double b, double p);
/// x with 1 - I_x(a, b) = q.
double beta_quantile_complement(double a, double b, double q);

/// Fisher's exact test that two shares have the same probability: the probability, with all margins
/// given, of a table that is at most as likely as count_a of total_a and count_b of total_b. With
/// more than `kLongestExact` samples the sum is too long: then the binomial approximation where a
/// margin is 10,000 or less, else the normal one with the pooled share. Throws
/// std::invalid_argument when a count exceeds its total.
double fisher_exact_p(std::uint64_t count_a, std::uint64_t total_a, std::uint64_t count_b,
                      std::uint64_t total_b);
inline constexpr std::uint64_t kLongestExact = 10'000'000;

}  // namespace skid::analysis
