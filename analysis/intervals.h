// Intervals for quantiles and means of offsets.
#pragma once

#include "analysis/statistics.h"

#include <cstdint>
#include <optional>

namespace skid::analysis {

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
