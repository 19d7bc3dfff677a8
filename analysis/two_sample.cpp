#include "analysis/two_sample.h"

#include "analysis/distributions.h"
#include "analysis/intervals.h"
#include "analysis/offset_counts.h"
#include "analysis/share.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

namespace skid::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_samples(const OffsetCounts& a, const OffsetCounts& b) {
  if (a.empty() || b.empty()) throw std::invalid_argument("a comparison with no samples");
}

/// The samples of both at one offset.
struct Both {
  std::int64_t offset = 0;
  std::uint64_t a = 0, b = 0;
};

std::vector<Both> merge(const OffsetCounts& a, const OffsetCounts& b) {
  OffsetCounts pooled = a;
  pooled += b;
  std::vector<Both> merged;
  for (const auto& [offset, count] : pooled.counts()) {
    const std::uint64_t of_a = a.count_at(offset);
    merged.push_back({offset, of_a, count - of_a});
  }
  return merged;
}

double share_of(std::uint64_t samples, const OffsetCounts& of) {
  return static_cast<double>(samples) / static_cast<double>(of.total());
}

/// Calls `visit(a, b, gap)` at each merged offset except the last, with the samples of both up to
/// this offset and the distance to the next one.
template <typename Visit>
void walk_offsets(const OffsetCounts& a, const OffsetCounts& b, Visit visit) {
  const auto merged = merge(a, b);
  std::uint64_t below_a = 0;
  std::uint64_t below_b = 0;
  for (std::size_t i = 0; i + 1 < merged.size(); ++i) {
    below_a += merged[i].a;
    below_b += merged[i].b;
    // Offsets are converted before the subtraction, which may overflow in 64 bits.
    const double gap =
        static_cast<double>(merged[i + 1].offset) - static_cast<double>(merged[i].offset);
    visit(below_a, below_b, gap);
  }
}

/// Returns P(K > x) of Kolmogorov's distribution.
double kolmogorov_tail(double x) {
  if (x < 0.3) return 1;  // off by less than 1e-5
  double sum = 0;
  for (int k = 1; k <= 20; ++k) {
    const double term = std::exp(-2.0 * k * k * x * x);
    sum += k % 2 == 1 ? term : -term;
  }
  return std::clamp(2.0 * sum, 0.0, 1.0);
}

/// Returns P(D >= d) for n and m samples without ties: the share of paths over a grid of n by m
/// steps that reach a difference of d. The time grows with n m.
double kolmogorov_smirnov_exact(double d, std::uint64_t n, std::uint64_t m) {
  const auto rows = static_cast<double>(n), columns = static_cast<double>(m);
  const auto reaches = [=](double i, double j) {
    // Half a step is subtracted so that rounding does not decide.
    return std::abs(i / rows - j / columns) > d - 0.5 / (rows * columns);
  };
  // For each j, the share of the paths to (i, j) that reach it.
  std::vector<double> reached(static_cast<std::size_t>(m) + 1);
  for (std::uint64_t i = 0; i <= n; ++i) {
    for (std::size_t j = 0; j < reached.size(); ++j) {
      const auto x = static_cast<double>(i), y = static_cast<double>(j);
      const double left = j > 0 ? reached[j - 1] : 0;
      if (reaches(x, y)) {
        reached[j] = 1;
      } else if (i + j > 0) {
        reached[j] = (x * reached[j] + y * left) / (x + y);
      }
    }
  }
  return reached.back();
}

/// Returns p of Welch's t, which is right for equal means with any spreads, and wrong for few and
/// skewed samples.
double welch_p(const Moments& a, const Moments& b) {
  if (a.n < 2 || b.n < 2) return 0;
  const double va = a.variance / a.n;
  const double vb = b.variance / b.n;
  if (va + vb == 0) return a.mean == b.mean ? 1 : 0;
  const double degrees = (va + vb) * (va + vb) / (va * va / (a.n - 1.0) + vb * vb / (b.n - 1.0));
  return student_p(degrees, (b.mean - a.mean) / std::sqrt(va + vb));
}

/// Returns p of the permutation test: how often the pooled samples, randomly divided into two sides
/// of these sizes, have means at least as far apart. It is computed from the first three moments of
/// that distribution, which are known exactly.
double dealt_p(const OffsetCounts& a, const OffsetCounts& b) {
  OffsetCounts pooled = a;
  pooled += b;
  const Moments all = moments_of(pooled);
  const auto na = static_cast<double>(a.total());
  const auto nb = static_cast<double>(b.total());
  if (all.variance == 0) return 1;
  const double z = (a.mean() - all.mean) / std::sqrt(all.variance * nb / (na * all.n));
  if (all.n < 3) return 1;
  const double population = all.variance * (all.n - 1) / all.n;
  const double skewness = all.third / std::pow(population, 1.5) * (nb - na) *
                          std::sqrt((all.n - 1) / (na * nb)) / (all.n - 2);
  // The least p of any permutation test is that of two samples without a common offset.
  return std::max(pearson3_p(z, skewness), fisher_exact_p(a.total(), a.total(), 0, b.total()));
}

/// Computes the ends of b - a from those of a and b (MOVER).
Difference recover(const Interval& a, const Interval& b) {
  const auto both = [](double x, double y) { return std::sqrt(x * x + y * y); };
  const double value = b.value - a.value;
  return {value, value - both(b.value - b.low, a.high - a.value),
          value + both(b.high - b.value, a.value - a.low)};
}

Interval mean_ends(const OffsetCounts& offsets) {
  return mean_interval(offsets).value_or(Interval{offsets.mean(), -kInfinity, kInfinity});
}

Interval quantile_ends(const OffsetCounts& offsets, double share) {
  const auto interval = quantile_interval(offsets, share);
  const auto& grouped = interval.value().grouped;
  return {grouped.value, grouped.low.value_or(-kInfinity), grouped.high.value_or(kInfinity)};
}

}  // namespace

double total_variation(const OffsetCounts& a, const OffsetCounts& b) {
  check_samples(a, b);
  double sum = 0;
  for (const Both& both : merge(a, b)) sum += std::abs(share_of(both.a, a) - share_of(both.b, b));
  return std::min(1.0, sum / 2);
}

double wasserstein(const OffsetCounts& a, const OffsetCounts& b) {
  check_samples(a, b);
  double area = 0;
  walk_offsets(a, b, [&](std::uint64_t below_a, std::uint64_t below_b, double gap) {
    area += std::abs(share_of(below_b, b) - share_of(below_a, a)) * gap;
  });
  return area;
}

double kolmogorov_smirnov(const OffsetCounts& a, const OffsetCounts& b) {
  check_samples(a, b);
  double largest = 0;
  walk_offsets(a, b, [&](std::uint64_t below_a, std::uint64_t below_b, double) {
    largest = std::max(largest, std::abs(share_of(below_b, b) - share_of(below_a, a)));
  });
  return largest;
}

double kolmogorov_smirnov_p(const OffsetCounts& a, const OffsetCounts& b) {
  constexpr double kMostSteps = 10'000;
  const double d = kolmogorov_smirnov(a, b);
  const auto n = static_cast<double>(a.total());
  const auto m = static_cast<double>(b.total());
  if (n * m <= kMostSteps) return kolmogorov_smirnov_exact(d, a.total(), b.total());
  return kolmogorov_tail(d * std::sqrt(n / (n + m) * m));
}

Difference difference_of_shares(const Share& a, const Share& b) {
  Difference difference = recover({a.value, a.low, a.high}, {b.value, b.low, b.high});
  difference.low = std::max(-1.0, difference.low);
  difference.high = std::min(1.0, difference.high);
  difference.p = fisher_exact_p(a.count, a.total, b.count, b.total);
  return difference;
}

Difference mean_difference(const OffsetCounts& a, const OffsetCounts& b) {
  check_samples(a, b);
  Difference difference = recover(mean_ends(a), mean_ends(b));
  if (a.counts().size() == 1 && b.counts().size() == 1) {  // no spread on either side
    const bool same = a.counts().begin()->first == b.counts().begin()->first;
    difference.p = same ? 1 : fisher_exact_p(a.total(), a.total(), 0, b.total());
  } else {
    difference.p = std::max(welch_p(moments_of(a), moments_of(b)), dealt_p(a, b));
  }
  return difference;
}

Difference quantile_difference(const OffsetCounts& a, const OffsetCounts& b, double share) {
  check_samples(a, b);
  Difference difference = recover(quantile_ends(a, share), quantile_ends(b, share));
  const double all = static_cast<double>(a.total()) + static_cast<double>(b.total());
  std::uint64_t cut_a = 0;
  std::uint64_t cut_b = 0;
  double nearest = kInfinity;
  walk_offsets(a, b, [&](std::uint64_t below_a, std::uint64_t below_b, double) {
    const double below = static_cast<double>(below_a) + static_cast<double>(below_b);
    const double off = std::abs(below / all - share);
    if (off >= nearest) return;
    nearest = off;
    cut_a = below_a;
    cut_b = below_b;
  });
  difference.p = fisher_exact_p(cut_a, a.total(), cut_b, b.total());
  return difference;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [p](std::size_t i, std::size_t j) { return p[i] < p[j]; });
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
