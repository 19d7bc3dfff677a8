#include "analysis/distributions.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>

namespace skid::analysis {
namespace {

using boost::math::cdf;
using boost::math::complement;
using boost::math::pdf;

/// The number in one cell of a 2 x 2 table with given margins.
class Tables {
 public:
  Tables(unsigned marked, unsigned drawn, unsigned total)
      : cell_(marked, drawn, total),
        lowest_(marked + drawn > total ? marked + drawn - total : 0),
        highest_(std::min(marked, drawn)),
        mode_(std::floor((drawn + 1.0) * (marked + 1.0) / (total + 2.0))) {}

  /// The probability of all tables that are at most as likely as this one.
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

  boost::math::hypergeometric_distribution<> cell_;
  double lowest_, highest_, mode_;
};

}  // namespace

double normal_reach(double share) {
  return std::sqrt(2.0) * boost::math::erf_inv(share);
}

double student_reach(double degrees, double share) {
  return boost::math::quantile(boost::math::students_t(degrees), 0.5 + share / 2.0);
}

double student_p(double degrees, double t) {
  return 2.0 * cdf(complement(boost::math::students_t(degrees), std::abs(t)));
}

double chi_square_p(int degrees, double x) {
  return cdf(complement(boost::math::chi_squared(degrees), x));
}

double pearson3_p(double z, double skewness) {
  constexpr double kSymmetric = 1e-3;
  if (std::abs(skewness) < kSymmetric) return std::erfc(std::abs(z) / std::sqrt(2.0));
  if (skewness < 0) z = -z;
  const double shape = 4.0 / (skewness * skewness);
  const double x = shape + z * std::sqrt(shape);
  if (x <= 0) return 0;  // below the end of the shorter tail
  return std::min(1.0,
                  2.0 * std::min(boost::math::gamma_q(shape, x), boost::math::gamma_p(shape, x)));
}

double beta_quantile(double a, double b, double p) {
  return boost::math::ibeta_inv(a, b, p);
}

double beta_quantile_complement(double a, double b, double q) {
  return boost::math::ibetac_inv(a, b, q);
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
  if (total <= static_cast<double>(kLongestExact)) {
    return Tables(static_cast<unsigned>(marked), static_cast<unsigned>(na),
                  static_cast<unsigned>(total))
        .p(xa);
  }
  const double share = marked / total;
  const double z = (xb / nb - xa / na) / std::sqrt(share * (1 - share) * (1 / na + 1 / nb));
  return std::erfc(std::abs(z) / std::sqrt(2.0));
}

}  // namespace skid::analysis
