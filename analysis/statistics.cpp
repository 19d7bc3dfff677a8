#include "analysis/statistics.h"

#include "analysis/distributions.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

namespace skid::analysis {
namespace {

/// share * total rounded up, where a product that misses a whole number by rounding only counts as
/// that number (0.07 * 100 is 7.000000000000001 in binary).
std::uint64_t rank_of(double share, std::uint64_t total) {
  const double exact = share * static_cast<double>(total);
  const double nearest = std::round(exact);
  const double rounding_error = 2.0 * std::numeric_limits<double>::epsilon() * exact;
  const double rank = std::abs(exact - nearest) <= rounding_error ? nearest : std::ceil(exact);
  if (rank >= static_cast<double>(total)) return total;
  return static_cast<std::uint64_t>(std::max(rank, 1.0));
}

std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

/// The shares of samples where the interval ends; without an end as in QuantileInterval.
struct Ends {
  std::optional<double> low, high;
};

/// Boost's incomplete beta function does not converge everywhere with more samples, and the normal
/// approximation is off by less than a thousandth of the interval's width.
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

/// t for which Hall's transformation of a t with skewness `skew` gives `z`:
/// ((1 + skew t / 3)^3 - 1) / skew + skew / 6 = z.
double undo_skewness(double z, double skew) {
  if (std::abs(skew) < 1e-6) return z;
  return 3.0 / skew * (std::cbrt(1.0 + skew * (z - skew / 6.0)) - 1.0);
}

}  // namespace

double two_sided_z() {
  static const double z = normal_reach(kConfidence);
  return z;
}

Share wilson_interval(std::uint64_t count, std::uint64_t total) {
  if (count > total) throw std::invalid_argument("a share counts more than its total");
  Share share;
  share.count = count;
  share.total = total;
  if (total == 0) return share;

  const double z = two_sided_z();
  const auto n = static_cast<double>(total);
  const double p = static_cast<double>(count) / n;
  const double z2n = z * z / n;
  const double centre = p + z2n / 2.0;
  const double spread = z * std::sqrt(p * (1.0 - p) / n + z2n / (4.0 * n));
  share.value = p;
  // The formula gives these two ends exactly; floating point would miss them by an ulp.
  share.low = count == 0 ? 0.0 : std::max(0.0, (centre - spread) / (1.0 + z2n));
  share.high = count == total ? 1.0 : std::min(1.0, (centre + spread) / (1.0 + z2n));
  return share;
}

std::uint64_t samples_to_show(double share) {
  if (!(share >= 0.0 && share < 1.0)) {
    throw std::invalid_argument("a share that samples can show is in [0, 1)");
  }
  const double z = two_sided_z();
  return static_cast<std::uint64_t>(std::ceil(share * z * z / (1.0 - share)));
}

void OffsetCounts::add(std::int64_t offset, std::uint64_t count) {
  if (count == 0) return;
  counts_[offset] += count;
  total_ += count;
}

std::int64_t OffsetCounts::quantile(double share) const {
  if (!(share > 0.0 && share <= 1.0)) throw std::invalid_argument("a quantile is in (0, 1]");
  if (empty()) return 0;
  const std::uint64_t rank = rank_of(share, total_);
  std::uint64_t seen = 0;
  for (const auto& [offset, count] : counts_) {
    seen += count;
    if (seen >= rank) return offset;
  }
  return counts_.rbegin()->first;
}

double OffsetCounts::mean() const {
  if (empty()) return 0.0;
  long double sum = 0.0L;
  for (const auto& [offset, count] : counts_) {
    sum += static_cast<long double>(offset) * static_cast<long double>(count);
  }
  return static_cast<double>(sum / static_cast<long double>(total_));
}

double OffsetCounts::stddev() const {
  if (total_ < 2) return 0.0;
  const auto centre = static_cast<long double>(mean());
  long double squares = 0.0L;
  for (const auto& [offset, count] : counts_) {
    const long double distance = static_cast<long double>(offset) - centre;
    squares += distance * distance * static_cast<long double>(count);
  }
  return static_cast<double>(std::sqrt(squares / static_cast<long double>(total_ - 1)));
}

std::int64_t OffsetCounts::mode() const {
  std::int64_t best = 0;
  std::uint64_t best_count = 0;
  for (const auto& [offset, count] : counts_) {
    // Ascending order: of two offsets equally far from 0 the smaller came first and stays.
    const bool nearer = count == best_count && magnitude(offset) < magnitude(best);
    if (count > best_count || nearer) {
      best = offset;
      best_count = count;
    }
  }
  return best;
}

std::uint64_t OffsetCounts::count_at(std::int64_t offset) const {
  const auto found = counts_.find(offset);
  return found == counts_.end() ? 0 : found->second;
}

double OffsetCounts::concentration() const {
  double sum = 0;
  for (const auto& [offset, count] : counts_) {
    const double share = static_cast<double>(count) / static_cast<double>(total_);
    sum += share * share;
  }
  return sum;
}

OffsetCounts& OffsetCounts::operator+=(const OffsetCounts& other) {
  if (this == &other) {
    for (auto& [offset, count] : counts_) count *= 2;
    total_ *= 2;
    return *this;
  }
  for (const auto& [offset, count] : other.counts_) add(offset, count);
  return *this;
}

std::optional<Distance> summarize(const OffsetCounts& offsets,
                                  std::optional<std::int64_t> censored_from, double scale) {
  if (offsets.empty()) return std::nullopt;
  const std::int64_t p50 = offsets.quantile(0.50), p90 = offsets.quantile(0.90);
  const std::int64_t p99 = offsets.quantile(0.99), mode = offsets.mode();
  const std::int64_t min = offsets.counts().begin()->first, max = offsets.counts().rbegin()->first;
  const auto length = [scale](std::int64_t offset) { return static_cast<double>(offset) * scale; };
  const auto at_least = [censored_from](std::int64_t offset) {
    return censored_from && offset >= *censored_from;
  };
  return Distance{.min = length(min),
                  .p50 = length(p50),
                  .p90 = length(p90),
                  .p99 = length(p99),
                  .max = length(max),
                  .mean = offsets.mean() * scale,
                  .stddev = offsets.stddev() * scale,
                  .mode = length(mode),
                  .mode_share = static_cast<double>(offsets.count_at(mode)) /
                                static_cast<double>(offsets.total()),
                  .p50_at_least = at_least(p50),
                  .p90_at_least = at_least(p90),
                  .p99_at_least = at_least(p99),
                  .max_at_least = at_least(max)};
}

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
  if (!(moments.variance > 0)) return interval;  // or no more than a double can distinguish
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
