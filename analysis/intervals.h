// Quantiles and means of offsets with their intervals.
#pragma once

#include "analysis/confidence.h"

#include <cstdint>
#include <optional>

namespace skid::analysis {

class OffsetCounts;

/// A quantile of whole offsets with its interval, in two forms.
///
/// The first form has whole offsets that were seen: order statistics. The quantile is between them
/// with at least the confidence, and with more where many samples share an offset.
///
/// The second form is the grouped quantile: the samples at offset x are taken as spread evenly over
/// x - 1/2 to x + 1/2, so that a quantile has a place within its offset. Its interval has nearly
/// the confidence where no offset has many of the samples.
///
/// The ends are at the shares that Clopper and Pearson give for share * n of n samples. These are
/// the ends of the percentile bootstrap, whose distribution is a binomial one: nothing is
/// resampled. An end is missing where not even the smallest or largest sample bounds the quantile
/// (the upper end of p99 with fewer than 368 samples, since 0.99^367 > 0.025).
struct QuantileInterval {
  std::int64_t value = 0;  ///< as OffsetCounts::quantile
  std::optional<std::int64_t> low, high;
  struct Grouped {
    double value = 0;
    std::optional<double> low, high;
  } grouped;
  static constexpr double confidence = kConfidence;
};

/// Returns a quantile with its interval; nullopt without samples. If two or more samples all have
/// one offset, it is the value and both ends in both forms; a single sample has no ends. Throws
/// std::invalid_argument unless share is between 0 and 1.
std::optional<QuantileInterval> quantile_interval(const OffsetCounts& offsets, double share);

/// Returns the grouped quantile alone, which is the offset itself if there is only one. Throws
/// std::invalid_argument for a `share` outside 0 to 1, and without samples.
double grouped_quantile(const OffsetCounts& offsets, double share);

struct Interval {
  double value = 0, low = 0, high = 0;
  static constexpr double confidence = kConfidence;
};

/// Returns the mean with the interval of Student's t corrected for skewness by Hall's
/// transformation (P. Hall, J. R. Statist. Soc. B 54, 1992): a long tail to the right moves both
/// ends to the right. With 30 or more samples, neither end is outside the range of the samples.
/// nullopt for fewer than two samples. If all samples have one offset, both ends are that offset.
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
