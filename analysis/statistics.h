// Shares, and distances as a weighted distribution of whole numbers, with intervals.
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

/// A quantile of whole offsets with its interval, in two forms.
///
/// As whole offsets that were seen: order statistics between which the quantile is with at least
/// the confidence, with more where many samples share an offset.
///
/// As a grouped quantile: the samples at offset x are taken as spread evenly over x - 1/2 to x +
/// 1/2, so that a quantile has a place within its offset; its interval has nearly the
/// confidence where no offset has many of the samples.
///
/// The ends are at the shares that Clopper and Pearson give for share * n of n samples, which are
/// those of the percentile bootstrap, whose distribution is a binomial one: nothing is resampled.
/// Without an end: not even the smallest or largest sample bounds the quantile (for the upper end
/// of p99 with fewer than 368 samples, since 0.99^n > 0.025).
struct QuantileInterval {
  std::int64_t value = 0;  ///< as OffsetCounts::quantile
  std::optional<std::int64_t> low, high;
  struct Grouped {
    double value = 0;
    std::optional<double> low, high;
  } grouped;
  static constexpr double confidence = kConfidence;
};

/// nullopt without samples. If two or more samples all have one offset, it is the value and both
/// ends in both forms; a single sample has no ends. Throws std::invalid_argument unless share is
/// between 0 and 1.
std::optional<QuantileInterval> quantile_interval(const OffsetCounts& offsets, double share);

/// The grouped quantile alone; the offset itself where there is only one. `share` from 0 to 1;
/// throws std::invalid_argument outside and without samples.
double grouped_quantile(const OffsetCounts& offsets, double share);

struct Interval {
  double value = 0, low = 0, high = 0;
  static constexpr double confidence = kConfidence;
};

/// The mean, with the interval of Student's t corrected for skewness by Hall's transformation
/// (P. Hall, J. R. Statist. Soc. B 54, 1992): long tails to the right move both ends to the right.
/// Of 30 and more samples no end is beyond all of them. nullopt for fewer than two samples;
/// several at one offset alone give that point.
std::optional<Interval> mean_interval(const OffsetCounts& offsets);

/// Mean, variance and third moment about the mean of a sample.
struct Moments {
  double n = 0;
  double mean = 0;
  double variance = 0;  ///< n - 1 in the denominator; 0 for fewer than two
  double third = 0;     ///< n in the denominator
};
Moments moments_of(const OffsetCounts& offsets);

}  // namespace skid::analysis
