#include "analysis/hypergeometric.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <boost/math/special_functions/gamma.hpp>

namespace skid::analysis {
namespace {

/// Below this many the walk from 0 is shorter than what a rejection costs.
constexpr std::uint64_t kFewMarked = 10;

/// `marked` and `drawn` at most half of `total`, `marked` the fewer.
std::uint64_t draw_by_inversion(Random& random, double total, double marked, double drawn) {
  double probability = 1;
  double left_over = total;
  for (auto i = static_cast<int>(marked); i > 0; --i, --left_over) {
    probability *= (left_over - drawn) / left_over;
  }
  double left = random.share();
  double count = 0;
  while (left >= probability && count < marked) {
    left -= probability;
    probability *=
        (marked - count) * (drawn - count) / ((count + 1) * (total - marked - drawn + count + 1));
    ++count;
  }
  return static_cast<std::uint64_t>(count);
}

/// As above. The probabilities are needed over that of the mode only, which is a product of as many
/// ratios as lie in between; it falls with each, so that a rejection is known early.
std::uint64_t draw_by_ratio(Random& random, double total, double marked, double drawn) {
  const double share = marked / total;
  const double variance = drawn * share * (1 - share) * (total - drawn) / (total - 1);
  const double mode = std::floor((drawn + 1) * (marked + 1) / (total + 2));
  const double centre = drawn * share + 0.5;
  constexpr double k2RootOf2OverE = 1.7155277699214135;
  constexpr double k3Minus2RootOf3OverE = 0.8989161620588988;
  const double width = k2RootOf2OverE * std::sqrt(variance + 0.5) + k3Minus2RootOf3OverE;
  for (;;) {
    const double u = 1 - random.share();  // (0, 1]
    const double at = centre + width * (random.share() - 0.5) / u;
    if (at < 0 || at >= marked + 1) continue;
    const double count = std::floor(at);
    const double least = u * u;
    double ratio = 1;  // P(count) / P(mode)
    for (double i = mode + 1; i <= count && ratio >= least; ++i) {
      ratio *= (drawn - i + 1) * (marked - i + 1) / (i * (total - marked - drawn + i));
    }
    for (double i = mode; i > count && ratio >= least; --i) {
      ratio *= i * (total - marked - drawn + i) / ((drawn - i + 1) * (marked - i + 1));
    }
    if (ratio >= least) return static_cast<std::uint64_t>(count);
  }
}

/// A 2 x 2 table with given margins, told by the number in one of its cells.
class Tables {
 public:
  Tables(double total, double marked, double drawn)
      : total_(total),
        marked_(marked),
        drawn_(drawn),
        lowest_(std::max(0.0, drawn + marked - total)),
        highest_(std::min(drawn, marked)),
        mode_(std::floor((drawn + 1) * (marked + 1) / (total + 2))) {}

  /// The probability of all tables that are at most as likely as this one.
  double p(double count) const {
    const double weight = log_weight(count);
    const double of_mode = log_weight(mode_);
    if (weight >= of_mode - kSame) return 1;
    const bool above = count > mode_;
    double tail = sum(count, above);
    // The first on the other side of the mode that is as unlikely.
    double likely = mode_;
    double unlikely = above ? lowest_ - 1 : highest_ + 1;
    while (std::abs(likely - unlikely) > 1) {
      const double middle = std::floor((likely + unlikely) / 2);
      (log_weight(middle) > weight + kSame ? likely : unlikely) = middle;
    }
    if (unlikely >= lowest_ && unlikely <= highest_) {
      tail += std::exp(log_weight(unlikely) - weight) * sum(unlikely, !above);
    }
    const double whole = sum(mode_, true) + sum(mode_, false) - 1;
    return std::min(1.0, std::exp(weight - of_mode + std::log(tail / whole)));
  }

 private:
  /// Tables that are equally likely differ by rounding only.
  static constexpr double kSame = 1e-7;

  double log_weight(double count) const {
    const auto log_factorial = [](double n) { return boost::math::lgamma(n + 1); };
    return -(log_factorial(count) + log_factorial(marked_ - count) + log_factorial(drawn_ - count) +
             log_factorial(total_ - marked_ - drawn_ + count));
  }

  /// From `count`, on the mode or off it, away from the mode: the sum of the probabilities over
  /// that of `count`. What follows a term below 1e-20 is less than the sum can hold.
  double sum(double count, bool upwards) const {
    constexpr double kNegligible = 1e-20;
    double all = 1;
    double term = 1;
    while (term > kNegligible && (upwards ? count < highest_ : count > lowest_)) {
      if (!upwards) --count;
      const double up = (drawn_ - count) * (marked_ - count);
      const double down = (count + 1) * (total_ - marked_ - drawn_ + count + 1);
      term *= upwards ? up / down : down / up;
      if (upwards) ++count;
      all += term;
    }
    return all;
  }

  double total_, marked_, drawn_;
  double lowest_, highest_, mode_;
};

}  // namespace

std::uint64_t draw_hypergeometric(Random& random, std::uint64_t total, std::uint64_t marked,
                                  std::uint64_t drawn) {
  if (marked > total || drawn > total) {
    throw std::invalid_argument("more is marked or drawn than there is");
  }
  if (total > kLargestLot) throw std::invalid_argument("a lot is larger than a double counts");
  if (marked > total / 2) return drawn - draw_hypergeometric(random, total, total - marked, drawn);
  if (drawn > total / 2) return marked - draw_hypergeometric(random, total, marked, total - drawn);
  const std::uint64_t fewer = std::min(marked, drawn);
  const std::uint64_t more = std::max(marked, drawn);
  if (fewer == 0) return 0;
  const auto draw = fewer <= kFewMarked ? draw_by_inversion : draw_by_ratio;
  return draw(random, static_cast<double>(total), static_cast<double>(fewer),
              static_cast<double>(more));
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
  if (total <= kLongestExact) return Tables(total, marked, na).p(xa);
  const double share = marked / total;
  const double z = (xb / nb - xa / na) / std::sqrt(share * (1 - share) * (1 / na + 1 / nb));
  return std::erfc(std::abs(z) / std::sqrt(2.0));
}

}  // namespace skid::analysis
