// Boost.Math adds in another order with SSE2, so that results would differ between architectures.
// This is the guard of the header that does it.
#define BOOST_MATH_SPECIAL_FUNCTIONS_LANCZOS_SSE2

#include "analysis/distributions.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/exception/exception.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/complement.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/cbrt.hpp>
#include <boost/math/special_functions/detail/erf_inv.hpp>
#include <boost/math/special_functions/detail/ibeta_inverse.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/fpclassify.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace skid::analysis {
namespace {

using boost::math::cdf;
using boost::math::complement;
using boost::math::pdf;
/// Not in long double, which differs between architectures.
using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using StudentsT = boost::math::students_t_distribution<double, InDouble>;

/// Below this the normal approximation is not reliable.
constexpr double kFew = 10'000;

/// Tests a whole number that has a distribution with one peak: the number in a cell of a 2 x 2
/// table.
template <typename Distribution>
class TwoSidedTest {
 public:
  TwoSidedTest(const Distribution& distribution, double lowest, double highest, double mode)
      : cell_(distribution), lowest_(lowest), highest_(highest), mode_(std::min(mode, highest)) {}

  /// Returns the probability of all numbers that are at most as likely as this one.
  double p(double count) const {
    constexpr double kRounding = 1e-7;
    const double likely = pdf(cell_, count) * (1 + kRounding);
    if (pdf(cell_, mode_) <= likely) return 1;
    const bool above = count > mode_;
    // The nearest count on the other side of the mode that is at most as likely.
    double inner = mode_, outer = above ? lowest_ - 1 : highest_ + 1;
    while (std::abs(inner - outer) > 1) {
      const double middle = std::floor((inner + outer) / 2);
      (pdf(cell_, middle) > likely ? inner : outer) = middle;
    }
    return std::min(1.0, tail(count, above) + tail(outer, !above));
  }

 private:
  double tail(double from, bool upwards) const {
    if (from < lowest_ || from > highest_) return 0;
    if (!upwards) return cdf(cell_, from);
    return from == lowest_ ? 1 : cdf(complement(cell_, from - 1));
  }

  Distribution cell_;
  double lowest_, highest_, mode_;
};

/// Tests how many of the `marked` are among `drawn` of `total`.
double hypergeometric_p(double count, double marked, double drawn, double total) {
  const boost::math::hypergeometric_distribution<double, InDouble> distribution(
      static_cast<unsigned>(marked), static_cast<unsigned>(drawn), static_cast<unsigned>(total));
  return TwoSidedTest(distribution, std::max(0.0, marked + drawn - total), std::min(marked, drawn),
                      std::floor((drawn + 1.0) * (marked + 1.0) / (total + 2.0)))
      .p(count);
}

double binomial_p(double count, double trials, double share) {
  const boost::math::binomial_distribution<double, InDouble> distribution(trials, share);
  return TwoSidedTest(distribution, 0, trials, std::floor((trials + 1.0) * share)).p(count);
}

/// Returns shape and value of the gamma distribution of Pearson's type III; nullopt if it is nearly
/// a normal one.
std::optional<std::pair<double, double>> gamma_of(double z, double skewness) {
  constexpr double kSymmetric = 1e-3;
  if (skewness < kSymmetric) return std::nullopt;
  const double shape = 4.0 / (skewness * skewness);
  return std::pair(shape, shape + z * std::sqrt(shape));
}

}  // namespace

double cube_root(double x) {
  return boost::math::cbrt(x, InDouble());
}

double log_gamma(double x) {
  return boost::math::lgamma(x, InDouble());
}

double normal_upper_p(double z) {
  return boost::math::erfc(z / std::sqrt(2.0), InDouble()) / 2.0;
}

double normal_reach(double share) {
  return std::sqrt(2.0) * boost::math::erf_inv(share, InDouble());
}

double student_reach(double degrees, double share) {
  return boost::math::quantile(StudentsT(degrees), 0.5 + share / 2.0);
}

double student_p(double degrees, double t) {
  return 2.0 * cdf(complement(StudentsT(degrees), std::abs(t)));
}

double chi_square_p(int degrees, double x) {
  // Boost's incomplete gamma function overflows at some 3,500 degrees. The cube root of a
  // chi-square is nearly normal (E. B. Wilson, M. M. Hilferty, PNAS 17, 1931).
  constexpr int kMostExact = 1000;
  if (degrees > kMostExact) {
    const double variance = 2.0 / (9.0 * degrees);
    const double z = (cube_root(x / degrees) - (1 - variance)) / std::sqrt(variance);
    return normal_upper_p(z);
  }
  return cdf(complement(boost::math::chi_squared_distribution<double, InDouble>(degrees), x));
}

ChiSquareTest chi_square_test(std::span<const double> seen, std::span<const double> expected) {
  ChiSquareTest test;
  test.degrees = static_cast<int>(seen.size()) - 1;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double off = seen[i] - expected[i];
    test.chi_square += off * off / expected[i];
  }
  if (test.degrees > 0) test.p = chi_square_p(test.degrees, test.chi_square);
  return test;
}

Bias pearson_of(std::span<const std::uint64_t> samples) {
  const auto all = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  const std::vector<double> expected(
      samples.size(), static_cast<double>(all) / static_cast<double>(samples.size()));
  Bias bias{chi_square_test(std::vector<double>(samples.begin(), samples.end()), expected), {}};
  const auto [fewest, most] = std::ranges::minmax_element(samples);
  if (*fewest > 0) bias.largest_ratio = static_cast<double>(*most) / static_cast<double>(*fewest);
  return bias;
}

double pearson3_p(double z, double skewness) {
  if (skewness < 0) return pearson3_p(-z, -skewness);
  const auto gamma = gamma_of(z, skewness);
  if (!gamma) return 2.0 * normal_upper_p(std::abs(z));
  const auto [shape, x] = *gamma;
  if (x <= 0) return 0;  // below the end of the shorter tail
  return std::min(1.0, 2.0 * std::min(boost::math::gamma_q(shape, x, InDouble()),
                                      boost::math::gamma_p(shape, x, InDouble())));
}

double pearson3_upper_p(double z, double skewness) {
  const auto gamma = gamma_of(z, skewness);
  if (!gamma) return normal_upper_p(z);
  return gamma->second <= 0 ? 1 : boost::math::gamma_q(gamma->first, gamma->second, InDouble());
}

double binomial_upper_p(std::uint64_t x, std::uint64_t trials, double share) {
  if (x == 0 || share >= 1) return 1;
  if (share <= 0 || x > trials) return 0;
  // Abramowitz and Stegun, Handbook of Mathematical Functions, 26.5.24
  return boost::math::ibeta(static_cast<double>(x), static_cast<double>(trials - x) + 1, share,
                            InDouble());
}

double beta_quantile(double a, double b, double p) {
  return boost::math::ibeta_inv(a, b, p, InDouble());
}

double beta_quantile_complement(double a, double b, double q) {
  return boost::math::ibetac_inv(a, b, q, InDouble());
}

double fisher_exact_p(std::uint64_t count_a, std::uint64_t total_a, std::uint64_t count_b,
                      std::uint64_t total_b) {
  if (count_a > total_a || count_b > total_b) {
    throw std::invalid_argument("a share counts more than its total");
  }
  const auto xa = static_cast<double>(count_a);
  const auto na = static_cast<double>(total_a);
  const auto xb = static_cast<double>(count_b);
  const auto nb = static_cast<double>(total_b);
  const double total = na + nb;
  const double marked = xa + xb;
  if (total_a == 0 || total_b == 0 || marked == 0 || marked == total) return 1;
  if (total <= static_cast<double>(kLongestExact)) return hypergeometric_p(xa, marked, na, total);
  // If a margin is small compared with the total, samples are as good as drawn with replacement.
  struct Margin {
    double size, count, share;
  };
  const Margin least =
      std::min({Margin{marked, xa, na / total}, Margin{total - marked, na - xa, na / total},
                Margin{na, xa, marked / total}, Margin{nb, xb, marked / total}},
               [](const Margin& a, const Margin& b) { return a.size < b.size; });
  if (least.size <= kFew) return binomial_p(least.count, least.size, least.share);
  const double share = marked / total;
  const double z = (xb / nb - xa / na) / std::sqrt(share * (1 - share) * (1 / na + 1 / nb));
  return 2.0 * normal_upper_p(std::abs(z));
}

}  // namespace skid::analysis
