#include "analysis/intervals.h"

#include "analysis/distributions.h"
#include "analysis/offset_counts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

namespace skid::analysis {
namespace {

/// The shares of samples at which an interval ends. An end is missing as in QuantileInterval.
struct Ends {
  std::optional<double> low, high;
};

/// With more samples the normal approximation is used: Boost's incomplete beta function does not
/// always converge there, and the approximation is off by less than a thousandth of the interval's
/// width.
constexpr double kMostExactEnds = 1e9;

Ends ends_of(double n, double share) {
  if (n > kMostExactEnds) {
    const double reach = two_sided_z() * std::sqrt(share * (1.0 - share) / n);
    return {share - reach, share + reach};
  }
  const double tail = (1.0 - kConfidence) / 2.0;
  const double below = share * n;
  const double above = n - below;
  Ends ends;
  if (std::pow(1.0 - share, n) <= tail) ends.low = beta_quantile(below, above + 1.0, tail);
  if (std::pow(share, n) <= tail) ends.high = beta_quantile_complement(below + 1.0, above, tail);
  return ends;
}

/// Inverts Hall's transformation. Returns the t for which it gives `z` if the skewness is `skew`:
/// ((1 + skew t / 3)^3 - 1) / skew + skew / 6 = z.
double undo_skewness(double z, double skew) {
  if (std::abs(skew) < 1e-6) return z;
  return 3.0 / skew * (cube_root(1.0 + skew * (z - skew / 6.0)) - 1.0);
}

}  // namespace

double grouped_quantile(const OffsetCounts& offsets, double share) {
  if (!(share >= 0.0 && share <= 1.0)) throw std::invalid_argument("a quantile is in [0, 1]");
  if (offsets.empty()) throw std::invalid_argument("a quantile of no samples");
  const auto& counts = offsets.counts();
  if (counts.size() == 1) return static_cast<double>(counts.begin()->first);
  const double rank = share * static_cast<double>(offsets.total());
  double below = 0;
  for (const auto& [offset, count] : counts) {
    const auto here = static_cast<double>(count);
    if (below + here >= rank) return static_cast<double>(offset) - 0.5 + (rank - below) / here;
    below += here;
  }
  return static_cast<double>(counts.rbegin()->first) + 0.5;
}

std::optional<QuantileInterval> quantile_interval(const OffsetCounts& offsets, double share) {
  if (!(share > 0.0 && share < 1.0)) {
    throw std::invalid_argument("a quantile with an interval is between 0 and 1");
  }
  if (offsets.empty()) return std::nullopt;
  QuantileInterval interval;
  interval.value = offsets.quantile(share);
  interval.grouped.value = grouped_quantile(offsets, share);
  if (offsets.total() == 1) return interval;
  if (offsets.counts().size() == 1) {
    interval.low = interval.high = interval.value;
    interval.grouped.low = interval.grouped.high = interval.grouped.value;
    return interval;
  }
  const Ends ends = ends_of(static_cast<double>(offsets.total()), share);
  if (ends.low) {
    interval.low = offsets.quantile(*ends.low);
    interval.grouped.low = grouped_quantile(offsets, *ends.low);
  }
  if (ends.high) {
    interval.high = offsets.quantile(*ends.high);
    interval.grouped.high = grouped_quantile(offsets, *ends.high);
  }
  return interval;
}

Moments moments_of(const OffsetCounts& offsets) {
  Moments moments;
  moments.n = static_cast<double>(offsets.total());
  moments.mean = offsets.mean();
  if (offsets.total() < 2) return moments;
  double squares = 0;
  double cubes = 0;
  for (const auto& [offset, count] : offsets.counts()) {
    const double distance = static_cast<double>(offset) - moments.mean;
    const double square = distance * distance * static_cast<double>(count);
    squares += square;
    cubes += square * distance;
  }
  moments.variance = squares / (moments.n - 1.0);
  moments.third = cubes / moments.n;
  return moments;
}

std::optional<Interval> mean_interval(const OffsetCounts& offsets) {
  if (offsets.total() < 2) return std::nullopt;
  const Moments moments = moments_of(offsets);
  Interval interval{moments.mean, moments.mean, moments.mean};
  if (!(moments.variance > 0)) return interval;  // or too little for a double
  const double error = std::sqrt(moments.variance / moments.n);
  const double skew = moments.third / (std::pow(moments.variance, 1.5) * std::sqrt(moments.n));
  const double t = student_reach(moments.n - 1.0, kConfidence);
  interval.low -= error * undo_skewness(t, skew);
  interval.high -= error * undo_skewness(-t, skew);
  // A few far samples among many at one offset make the skewness larger than the expansion is for.
  constexpr std::uint64_t kEnough = 30;
  if (offsets.total() >= kEnough) {
    interval.low = std::max(interval.low, static_cast<double>(offsets.counts().begin()->first));
    interval.high = std::min(interval.high, static_cast<double>(offsets.counts().rbegin()->first));
  }
  return interval;
}

}  // namespace skid::analysis
