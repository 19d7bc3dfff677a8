// How often each offset was seen.
#pragma once

#include <cstdint>
#include <map>

namespace skid::analysis {

/// Counts how often each offset was seen, in whole numbers of any unit. Counts are merged with
/// `+=`. Quantiles, mean and mode are 0 without samples: check `empty` first.
class OffsetCounts {
 public:
  void add(std::int64_t offset, std::uint64_t count);
  std::uint64_t total() const noexcept { return total_; }
  bool empty() const noexcept { return total_ == 0; }
  const std::map<std::int64_t, std::uint64_t>& counts() const noexcept { return counts_; }

  /// Returns the smallest offset that at least `share` of all samples do not exceed
  /// (0 < share <= 1).
  std::int64_t quantile(double share) const;
  double mean() const;
  /// Returns the standard deviation of the sample (n - 1 in the denominator); 0 for fewer than two
  /// samples.
  double stddev() const;
  /// Returns the most frequent offset. Ties go to the offset nearest 0, then to the smaller one.
  std::int64_t mode() const;
  std::uint64_t count_at(std::int64_t offset) const;

  /// Returns the probability that two random samples have the same offset.
  double concentration() const;
  OffsetCounts& operator+=(const OffsetCounts& other);

 private:
  std::map<std::int64_t, std::uint64_t> counts_;
  std::uint64_t total_ = 0;
};

}  // namespace skid::analysis
