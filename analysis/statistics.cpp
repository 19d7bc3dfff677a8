#include "analysis/statistics.h"

#include "analysis/distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

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
  const std::int64_t p50 = offsets.quantile(0.50);
  const std::int64_t p90 = offsets.quantile(0.90);
  const std::int64_t p99 = offsets.quantile(0.99);
  const std::int64_t max = offsets.counts().rbegin()->first;
  const std::int64_t mode = offsets.mode();
  const auto length = [scale](std::int64_t offset) { return static_cast<double>(offset) * scale; };
  const auto at_least = [censored_from](std::int64_t offset) {
    return censored_from && offset >= *censored_from;
  };

  Distance distance;
  distance.min = length(offsets.counts().begin()->first);
  distance.p50 = length(p50);
  distance.p90 = length(p90);
  distance.p99 = length(p99);
  distance.max = length(max);
  distance.mean = offsets.mean() * scale;
  distance.stddev = offsets.stddev() * scale;
  distance.mode = length(mode);
  distance.mode_share =
      static_cast<double>(offsets.count_at(mode)) / static_cast<double>(offsets.total());
  distance.p50_at_least = at_least(p50);
  distance.p90_at_least = at_least(p90);
  distance.p99_at_least = at_least(p99);
  distance.max_at_least = at_least(max);
  return distance;
}

}  // namespace skid::analysis
