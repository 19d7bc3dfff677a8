#include "analysis/offset_counts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

namespace skid::analysis {
namespace {

/// Returns share * total, rounded up. A product that differs from a whole number only by rounding
/// counts as that number (0.07 * 100 is 7.000000000000001 in binary).
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
  double sum = 0.0;
  for (const auto& [offset, count] : counts_) {
    sum += static_cast<double>(offset) * static_cast<double>(count);
  }
  return sum / static_cast<double>(total_);
}

double OffsetCounts::stddev() const {
  if (total_ < 2) return 0.0;
  const double centre = mean();
  double squares = 0.0;
  for (const auto& [offset, count] : counts_) {
    const double distance = static_cast<double>(offset) - centre;
    squares += distance * distance * static_cast<double>(count);
  }
  return std::sqrt(squares / static_cast<double>(total_ - 1));
}

std::int64_t OffsetCounts::mode() const {
  std::int64_t best = 0;
  std::uint64_t best_count = 0;
  for (const auto& [offset, count] : counts_) {
    // Offsets ascend: if two are equally far from 0, the smaller one comes first and is kept.
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

}  // namespace skid::analysis
