// Distribution functions and exact tests. Only their implementation uses Boost.Math. Results are
// the same on every architecture, which those of std::cbrt, std::lgamma, std::erfc and std::hypot
// are not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace skid::analysis {

/// Returns the cube root of x.
double cube_root(double x);
/// Returns the logarithm of the gamma function of x, which is above 0.
double log_gamma(double x);

/// Returns P(Z >= z) for a standard normal Z.
double normal_upper_p(double z);
/// Returns x with P(|Z| <= x) = share for a standard normal Z, 0 < share < 1.
double normal_reach(double share);
/// Returns x with P(|T| <= x) = share for Student's t.
double student_reach(double degrees, double share);
/// Returns P(|T| >= |t|) of Student's t.
double student_p(double degrees, double t);
/// Returns P(X >= x) of the chi-square distribution. With more than 1,000 degrees it uses Wilson
/// and Hilferty's approximation.
double chi_square_p(int degrees, double x);

/// Pearson's test of counts against those expected.
struct ChiSquareTest {
  double chi_square = 0;  ///< Pearson's statistic
  int degrees = 0;        ///< degrees of freedom: one fewer than counts
  double p = 1;           ///< probability of a statistic at least as large if the expectation holds
};
/// The least expected count of a cell for which p is accurate.
inline constexpr double kFewestExpected = 5;
/// Computes Pearson's test. `expected` has as many counts as `seen`, each above 0, with the same
/// sum.
ChiSquareTest chi_square_test(std::span<const double> seen, std::span<const double> expected);

/// Compares the samples of K triggers or places with 1/K each. p treats samples as independent.
struct Bias : ChiSquareTest {
  /// The most samples of one of them divided by the fewest; nullopt if one has no samples.
  std::optional<double> largest_ratio;
};
/// Computes Pearson's test of even shares. `samples` are those of at least two places, not all 0.
Bias pearson_of(std::span<const std::uint64_t> samples);

/// Returns the two-sided p of a statistic with mean 0, variance 1 and this skewness, by Pearson's
/// type III (a shifted gamma distribution): twice the smaller tail.
double pearson3_p(double z, double skewness);
/// Returns P(Z >= z) of Pearson's type III, for a skewness of at least 0.
double pearson3_upper_p(double z, double skewness);

/// Returns P(X >= x) of the binomial distribution.
double binomial_upper_p(std::uint64_t x, std::uint64_t trials, double share);

/// Returns x with I_x(a, b) = p for the regularised incomplete beta function.
double beta_quantile(double a, double b, double p);
/// Returns x with 1 - I_x(a, b) = q for the regularised incomplete beta function.
double beta_quantile_complement(double a, double b, double q);

/// Returns p of Fisher's exact test that two shares have the same probability: the probability,
/// with all margins given, of a table that is at most as likely as count_a of total_a and count_b
/// of total_b. With more than `kLongestExact` samples the sum is too long; then it uses the
/// binomial approximation if a margin is 10,000 or less, else the normal one with the pooled share.
/// Throws std::invalid_argument if a count exceeds its total.
double fisher_exact_p(std::uint64_t count_a, std::uint64_t total_a, std::uint64_t count_b,
                      std::uint64_t total_b);
inline constexpr std::uint64_t kLongestExact = 10'000'000;

}  // namespace skid::analysis
