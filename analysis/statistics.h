// Shares with intervals, and distances as a weighted distribution of whole numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace skid::analysis {

/// Of all intervals.
inline constexpr double kConfidence = 0.95;

/// `count` of `total`, with an interval for the underlying share.
struct Share {
  std::uint64_t count = 0;
  std::uint64_t total = 0;
  double value = 0.0;  ///< count / total; 0 when total is 0
  double low = 0.0;
  double high = 1.0;
  static constexpr double confidence = kConfidence;
};

/// The z of a two-sided normal interval: P(|Z| <= z) = kConfidence.
double two_sided_z();

/// Wilson's score interval (E. B. Wilson, JASA 22, 1927). total 0 gives [0, 1]. Throws
/// std::invalid_argument when count exceeds total.
Share wilson_interval(std::uint64_t count, std::uint64_t total);

/// The fewest samples of which none may miss for the Wilson interval's lower end to reach `share`:
/// ceil(share z² / (1 - share)).
std::uint64_t samples_to_show(double share);

/// How often each offset was seen, in whatever whole unit. Merges with `+=`. Without samples its
/// quantiles, mean and mode are 0: ask `empty` first.
class OffsetCounts {
 public:
  void add(std::int64_t offset, std::uint64_t count);
  std::uint64_t total() const noexcept { return total_; }
  bool empty() const noexcept { return total_ == 0; }
  const std::map<std::int64_t, std::uint64_t>& counts() const noexcept { return counts_; }

  /// The smallest offset that at least `share` of all samples do not exceed (0 < share <= 1).
  std::int64_t quantile(double share) const;
  double mean() const;
  /// Standard deviation of the sample (n - 1 in the denominator); 0 for fewer than two samples.
  double stddev() const;
  /// The most frequent offset; of several the one nearest 0, then the smaller.
  std::int64_t mode() const;
  std::uint64_t count_at(std::int64_t offset) const;

  /// The chance that two samples have one offset.
  double concentration() const;
  OffsetCounts& operator+=(const OffsetCounts& other);

 private:
  std::map<std::int64_t, std::uint64_t> counts_;
  std::uint64_t total_ = 0;
};

/// A distribution in a few numbers, in the unit of its offsets times a scale.
struct Distance {
  double min = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
  double mean = 0, stddev = 0;
  double mode = 0;
  double mode_share = 0;  ///< share of the samples at `mode`
  /// A quantile at or above the first censored offset is a lower bound: "at least". When the
  /// maximum is one, so is the mean.
  bool p50_at_least = false, p90_at_least = false, p99_at_least = false, max_at_least = false;
};

/// nullopt without samples. `scale` multiplies every length (ticks per instruction, or 1).
std::optional<Distance> summarize(const OffsetCounts& offsets,
                                  std::optional<std::int64_t> censored_from, double scale = 1.0);

}  // namespace skid::analysis
