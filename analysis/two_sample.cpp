#include "analysis/two_sample.h"

#include "analysis/hypergeometric.h"
#include "analysis/intervals.h"
#include "src/support/random.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include <boost/math/distributions/students_t.hpp>

namespace skid::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// With more samples a permutation takes too long, and products of two counts do not fit 64 bits.
constexpr std::uint64_t kMostPermuted = 100'000'000;
/// Below this permutations would tell nothing but that p is small.
constexpr double kSmallBound = 1e-4;
/// Offsets dealt to the two sides in all permutations of a test: some seconds.
constexpr std::uint64_t kMostDealt = 4'000'000;
/// With fewer permutations the bound of the Kolmogorov-Smirnov test says more; of so many offsets
/// it is near the p-value itself.
constexpr std::uint64_t kFewestPermutations = 999;
/// Permutations at least as extreme as the samples after which no more are drawn: p is then known
/// to about a fifth of itself.
constexpr std::uint64_t kEnoughExtreme = 20;
/// The largest skewness of the mean of a sample's size, and the fewest samples, for Welch's t.
constexpr double kSkewOfNormal = 0.1;
constexpr std::uint64_t kFewestForWelch = 30;

void check_samples(const OffsetCounts& a, const OffsetCounts& b) {
  if (a.empty() || b.empty()) throw std::invalid_argument("a comparison with no samples");
}

/// The samples of both at one offset.
struct Both {
  std::int64_t offset = 0;
  std::uint64_t a = 0, b = 0;
};

std::vector<Both> merge(const OffsetCounts& a, const OffsetCounts& b) {
  std::vector<Both> merged;
  merged.reserve(std::max(a.counts().size(), b.counts().size()));
  auto in_a = a.counts().begin();
  auto in_b = b.counts().begin();
  while (in_a != a.counts().end() || in_b != b.counts().end()) {
    Both both;
    const bool take_a =
        in_b == b.counts().end() || (in_a != a.counts().end() && in_a->first <= in_b->first);
    const bool take_b =
        in_a == a.counts().end() || (in_b != b.counts().end() && in_b->first <= in_a->first);
    both.offset = take_a ? in_a->first : in_b->first;
    if (take_a) both.a = in_a++->second;
    if (take_b) both.b = in_b++->second;
    merged.push_back(both);
  }
  return merged;
}

/// The difference of the distribution functions at each merged offset, b's less a's.
template <typename Visit>
void walk_distributions(const OffsetCounts& a, const OffsetCounts& b, Visit visit) {
  const auto merged = merge(a, b);
  const auto all_a = static_cast<double>(a.total());
  const auto all_b = static_cast<double>(b.total());
  std::uint64_t below_a = 0;
  std::uint64_t below_b = 0;
  for (std::size_t i = 0; i + 1 < merged.size(); ++i) {
    below_a += merged[i].a;
    below_b += merged[i].b;
    // Not subtracted first: the distance of two 64-bit numbers need not be one.
    const double gap =
        static_cast<double>(merged[i + 1].offset) - static_cast<double>(merged[i].offset);
    visit(static_cast<double>(below_b) / all_b - static_cast<double>(below_a) / all_a, gap);
  }
}

/// The pooled samples dealt anew to two sides of the same sizes; told is what the smaller one gets.
class Permutation {
 public:
  Permutation(const OffsetCounts& a, const OffsetCounts& b)
      : merged_(merge(a, b)),
        total_(a.total() + b.total()),
        smaller_(std::min(a.total(), b.total())),
        a_is_smaller_(a.total() <= b.total()) {}

  std::size_t size() const { return merged_.size(); }
  std::int64_t offset(std::size_t i) const { return merged_[i].offset; }
  std::uint64_t pooled(std::size_t i) const { return merged_[i].a + merged_[i].b; }
  /// Samples that the smaller side has at offset i as they were recorded.
  std::uint64_t recorded(std::size_t i) const {
    return a_is_smaller_ ? merged_[i].a : merged_[i].b;
  }
  std::uint64_t total() const { return total_; }
  std::uint64_t smaller() const { return smaller_; }

  /// visit(i, samples of the smaller side at offset i) by ascending offset until it returns false.
  template <typename Visit>
  void deal(Random& random, Visit visit) const {
    std::uint64_t left = total_;
    std::uint64_t to_draw = smaller_;
    for (std::size_t i = 0; i < merged_.size(); ++i) {
      const std::uint64_t here = pooled(i);
      const std::uint64_t drawn = draw_hypergeometric(random, left, here, to_draw);
      left -= here;
      to_draw -= drawn;
      if (!visit(i, drawn)) return;
    }
  }

 private:
  std::vector<Both> merged_;
  std::uint64_t total_, smaller_;
  bool a_is_smaller_;
};

struct SequentialP {
  double p = 1;
  std::uint64_t permutations = 0;
  std::uint64_t extreme = 0;  ///< of them
};

/// As many permutations of so many offsets as can be waited for, up to `most`.
std::uint64_t affordable(std::uint64_t most, std::size_t offsets) {
  return std::min(most, std::max(kFewestPermutations / 10, kMostDealt / offsets));
}

/// Besag and Clifford's sequential p; `is_extreme` draws one permutation.
template <typename IsExtreme>
SequentialP sequential_p(std::uint64_t most, IsExtreme is_extreme) {
  std::uint64_t extreme = 0;
  for (std::uint64_t drawn = 1; drawn <= most; ++drawn) {
    if (is_extreme() && ++extreme == kEnoughExtreme) {
      return {static_cast<double>(extreme) / static_cast<double>(drawn), drawn, extreme};
    }
  }
  return {static_cast<double>(extreme + 1) / (static_cast<double>(most) + 1.0), most, extreme};
}

/// P(K > x) of Kolmogorov's distribution.
double kolmogorov_tail(double x) {
  if (x < 0.3) return 1;  // off by less than 1e-5
  double sum = 0;
  for (int k = 1; k <= 20; ++k) {
    const double term = std::exp(-2.0 * k * k * x * x);
    sum += k % 2 == 1 ? term : -term;
  }
  return std::clamp(2.0 * sum, 0.0, 1.0);
}

/// Differences of the distribution functions times both sizes, in whole numbers: of dealt samples
/// as of the recorded ones, so that equal ones are found equal.
class KsPermutation {
 public:
  KsPermutation(const OffsetCounts& a, const OffsetCounts& b) : permutation_(a, b) {
    std::int64_t at_smaller = 0;
    std::int64_t at_both = 0;
    for (std::size_t i = 0; i < permutation_.size(); ++i) {
      at_smaller += signed_count(permutation_.recorded(i));
      at_both += signed_count(permutation_.pooled(i));
      recorded_ = std::max(recorded_, difference(at_smaller, at_both));
    }
  }

  std::size_t size() const { return permutation_.size(); }

  bool is_extreme(Random& random) const {
    std::int64_t at_smaller = 0;
    std::int64_t at_both = 0;
    bool extreme = false;
    permutation_.deal(random, [&](std::size_t i, std::uint64_t drawn) {
      at_smaller += signed_count(drawn);
      at_both += signed_count(permutation_.pooled(i));
      extreme = difference(at_smaller, at_both) >= recorded_;
      return !extreme;
    });
    return extreme;
  }

 private:
  static std::int64_t signed_count(std::uint64_t count) { return static_cast<std::int64_t>(count); }
  std::int64_t difference(std::int64_t at_smaller, std::int64_t at_both) const {
    return std::abs(at_smaller * signed_count(permutation_.total()) -
                    at_both * signed_count(permutation_.smaller()));
  }

  Permutation permutation_;
  std::int64_t recorded_ = 0;
};

/// Welch's statistic squared, or the difference squared where a side has a single sample.
class MeanPermutation {
 public:
  MeanPermutation(const OffsetCounts& a, const OffsetCounts& b) : permutation_(a, b) {
    OffsetCounts pooled = a;
    pooled += b;
    // Distances from the pooled mean keep their digits.
    const double centre = pooled.mean();
    Sums recorded;
    for (std::size_t i = 0; i < permutation_.size(); ++i) {
      distances_.push_back(static_cast<double>(permutation_.offset(i)) - centre);
      all_.add(distances_[i], permutation_.pooled(i));
      recorded.add(distances_[i], permutation_.recorded(i));
    }
    // Rounding differs with the order of sums; equal ones are to be found equal.
    constexpr double kSame = 1e-9;
    recorded_ = statistic(recorded) * (1 - kSame);
  }

  std::size_t size() const { return permutation_.size(); }

  bool is_extreme(Random& random) const {
    Sums dealt;
    permutation_.deal(random, [&](std::size_t i, std::uint64_t drawn) {
      dealt.add(distances_[i], drawn);
      return true;
    });
    return statistic(dealt) >= recorded_;
  }

 private:
  struct Sums {
    double sum = 0, squares = 0;
    void add(double distance, std::uint64_t samples) {
      const double weighted = distance * static_cast<double>(samples);
      sum += weighted;
      squares += weighted * distance;
    }
  };

  double statistic(const Sums& smaller) const {
    const auto n = static_cast<double>(permutation_.smaller());
    const double m = static_cast<double>(permutation_.total()) - n;
    const Sums larger{all_.sum - smaller.sum, all_.squares - smaller.squares};
    const double off = smaller.sum / n - larger.sum / m;
    if (n < 2 || m < 2) return off * off;
    const auto variance_of_mean = [](const Sums& sums, double size) {
      return std::max(0.0, sums.squares - sums.sum * sums.sum / size) / (size - 1) / size;
    };
    const double variance = variance_of_mean(smaller, n) + variance_of_mean(larger, m);
    // What rounding leaves of no variance at all.
    if (variance <= 1e-12 * (off * off)) return off == 0 ? 0 : kInfinity;
    return off * off / variance;
  }

  Permutation permutation_;
  std::vector<double> distances_;
  Sums all_;
  double recorded_ = 0;
};

/// Whether means of so many samples are as good as normal.
bool means_are_normal(const OffsetCounts& a, const OffsetCounts& b) {
  const std::uint64_t fewer = std::min(a.total(), b.total());
  if (fewer < kFewestForWelch) return false;
  OffsetCounts pooled = a;
  pooled += b;
  const Moments moments = moments_of(pooled);
  const double skewness = moments.third / std::pow(moments.variance, 1.5);
  return std::abs(skewness) <= kSkewOfNormal * std::sqrt(static_cast<double>(fewer));
}

double welch_p(const OffsetCounts& a, const OffsetCounts& b) {
  const Moments of_a = moments_of(a);
  const Moments of_b = moments_of(b);
  const double va = of_a.variance / of_a.n;
  const double vb = of_b.variance / of_b.n;
  if (va + vb == 0) return of_a.mean == of_b.mean ? 1 : 0;
  const double degrees =
      (va + vb) * (va + vb) / (va * va / (of_a.n - 1.0) + vb * vb / (of_b.n - 1.0));
  const double t = std::abs(of_b.mean - of_a.mean) / std::sqrt(va + vb);
  return 2.0 * boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), t));
}

/// MOVER: the ends of b - a from those of a and b.
struct Ends {
  double value = 0, low = 0, high = 0;
};
Difference recover(const Ends& a, const Ends& b, double confidence) {
  Difference difference;
  difference.value = b.value - a.value;
  difference.low = difference.value - std::hypot(b.value - b.low, a.high - a.value);
  difference.high = difference.value + std::hypot(b.high - b.value, a.value - a.low);
  difference.confidence = confidence;
  return difference;
}

Ends mean_ends(const OffsetCounts& offsets) {
  const auto interval = mean_interval(offsets);
  if (!interval) return {offsets.mean(), -kInfinity, kInfinity};
  return {interval->value, interval->low, interval->high};
}

Ends quantile_ends(const OffsetCounts& offsets, double share) {
  const auto interval = quantile_interval(offsets, share);
  const auto& grouped = interval.value().grouped;
  return {grouped.value, grouped.low.value_or(-kInfinity), grouped.high.value_or(kInfinity)};
}

}  // namespace

double total_variation(const OffsetCounts& a, const OffsetCounts& b) {
  check_samples(a, b);
  double sum = 0;
  for (const Both& both : merge(a, b)) {
    sum += std::abs(static_cast<double>(both.a) / static_cast<double>(a.total()) -
                    static_cast<double>(both.b) / static_cast<double>(b.total()));
  }
  return std::min(1.0, sum / 2);
}

double wasserstein(const OffsetCounts& a, const OffsetCounts& b) {
  check_samples(a, b);
  double area = 0;
  walk_distributions(
      a, b, [&area](double difference, double gap) { area += std::abs(difference) * gap; });
  return area;
}

double kolmogorov_smirnov(const OffsetCounts& a, const OffsetCounts& b) {
  check_samples(a, b);
  double largest = 0;
  walk_distributions(a, b, [&largest](double difference, double) {
    largest = std::max(largest, std::abs(difference));
  });
  return largest;
}

KsTest ks_test(const OffsetCounts& a, const OffsetCounts& b, std::uint64_t seed,
               std::uint64_t most_permutations) {
  KsTest test;
  test.d = kolmogorov_smirnov(a, b);
  if (test.d == 0) return test;
  const auto n = static_cast<double>(a.total());
  const auto m = static_cast<double>(b.total());
  const double bound = kolmogorov_tail(test.d * std::sqrt(n / (n + m) * m));
  test.p = bound;
  test.is_bound = true;
  if (bound < kSmallBound || n + m > static_cast<double>(kMostPermuted)) return test;
  const KsPermutation permutation(a, b);
  const std::uint64_t most = affordable(most_permutations, permutation.size());
  if (most < std::min(most_permutations, kFewestPermutations)) return test;
  Random random(seed);
  const SequentialP result = sequential_p(most, [&] { return permutation.is_extreme(random); });
  test.permutations = result.permutations;
  // Where none was extreme the bound may be the smaller. Taking it keeps the level: p is below that
  // of the first permutation only where the bound is.
  if (result.extreme > 0 || most == 0 || result.p <= bound) {
    test.p = result.p;
    test.is_bound = false;
  }
  return test;
}

Difference difference_of_shares(const Share& a, const Share& b) {
  if (a.confidence != b.confidence) {
    throw std::invalid_argument("shares with intervals of different confidence");
  }
  Difference difference = recover({a.value, a.low, a.high}, {b.value, b.low, b.high}, a.confidence);
  difference.low = std::max(-1.0, difference.low);
  difference.high = std::min(1.0, difference.high);
  difference.p = fisher_exact_p(a.count, a.total, b.count, b.total);
  return difference;
}

Difference mean_difference(const OffsetCounts& a, const OffsetCounts& b, std::uint64_t seed,
                           std::uint64_t most_permutations) {
  check_samples(a, b);
  Difference difference = recover(mean_ends(a), mean_ends(b), Difference{}.confidence);
  const double pooled = static_cast<double>(a.total()) + static_cast<double>(b.total());
  const bool one_offset = a.counts().size() == 1 && b.counts().size() == 1 &&
                          a.counts().begin()->first == b.counts().begin()->first;
  if (one_offset) return difference;
  if (pooled > static_cast<double>(kMostPermuted) || means_are_normal(a, b)) {
    difference.p = welch_p(a, b);
    return difference;
  }
  const MeanPermutation permutation(a, b);
  Random random(seed);
  const std::uint64_t most = affordable(most_permutations, permutation.size());
  difference.p = sequential_p(most, [&] { return permutation.is_extreme(random); }).p;
  return difference;
}

Difference quantile_difference(const OffsetCounts& a, const OffsetCounts& b, double share) {
  check_samples(a, b);
  Difference difference =
      recover(quantile_ends(a, share), quantile_ends(b, share), Difference{}.confidence);
  const auto merged = merge(a, b);
  const double all = static_cast<double>(a.total()) + static_cast<double>(b.total());
  std::uint64_t below_a = 0;
  std::uint64_t below_b = 0;
  std::uint64_t cut_a = 0;
  std::uint64_t cut_b = 0;
  double nearest = kInfinity;
  for (std::size_t i = 0; i + 1 < merged.size(); ++i) {
    below_a += merged[i].a;
    below_b += merged[i].b;
    const double below = static_cast<double>(below_a) + static_cast<double>(below_b);
    const double off = std::abs(below / all - share);
    if (off >= nearest) break;  // from here on it only grows
    nearest = off;
    cut_a = below_a;
    cut_b = below_b;
  }
  difference.p = fisher_exact_p(cut_a, a.total(), cut_b, b.total());
  return difference;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [p](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double factor = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, factor * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace skid::analysis
