// Compares two samples of offsets, or two shares: how much they differ, and whether by chance.
#pragma once

#include <span>
#include <vector>

namespace skid::analysis {

class OffsetCounts;
struct Share;

// Distances between two distributions of offsets. All throw std::invalid_argument if one of the two
// has no samples.

/// Returns half the sum of the differences between the shares of each offset: 0 for equal
/// distributions, 1 for those without a common offset.
double total_variation(const OffsetCounts& a, const OffsetCounts& b);
/// Returns the first Wasserstein distance, in the unit of the offsets: the mean distance by which
/// samples must be moved to turn one distribution into the other. It is the area between the
/// distribution functions.
double wasserstein(const OffsetCounts& a, const OffsetCounts& b);
/// Returns D, the largest difference between the distribution functions.
double kolmogorov_smirnov(const OffsetCounts& a, const OffsetCounts& b);

/// Returns an upper bound of p of the two-sample Kolmogorov-Smirnov test: the probability of a D at
/// least as large if both samples have one distribution. It is the p-value of continuous
/// distributions, which bounds that of discrete ones from above (G. E. Noether, 1963). It is exact
/// up to a product of the sample sizes of 10,000 (J. L. Hodges, Arkiv för Matematik 3, 1958), and
/// for larger samples by Kolmogorov's limit, which would be too small for a few samples.
double kolmogorov_smirnov_p(const OffsetCounts& a, const OffsetCounts& b);

/// How much larger something is in b than in a.
struct Difference {
  double value = 0;          ///< b - a
  double low = 0, high = 0;  ///< 95% interval; infinite where the samples do not bound it
  double p = 1;              ///< probability of such a difference if there is none
};

/// Compares two shares. The interval is Newcombe's hybrid score interval (Statistics in Medicine
/// 17, 1998, method 10), made from the intervals of the two shares; p is that of Fisher's exact
/// test
/// (`fisher_exact_p`). A share without samples has the interval [0, 1], which makes that of the
/// difference as wide.
Difference difference_of_shares(const Share& a, const Share& b);

/// Compares two means. The interval is made from those of the two means (`mean_interval`) by the
/// method of variance estimates recovery, MOVER (G. Y. Zou, A. Donner, Statistics in Medicine 27,
/// 2008). p is the larger one of two: Welch's t, which holds where the spreads differ, and the
/// permutation test of the means, which holds for few and skewed samples. The latter is
/// approximated by the first three moments of its distribution (Pearson's type III). Without any
/// spread p is that of Fisher's exact test. Throws std::invalid_argument if one of the two has no
/// samples.
Difference mean_difference(const OffsetCounts& a, const OffsetCounts& b);

/// Compares the grouped quantiles of `share` (0 < share < 1). The interval is made by MOVER from
/// their intervals (`quantile_interval`). p is that of Mood's test for any quantile: Fisher's exact
/// test of the shares of samples at or below a cut, the pooled quantile. The cut is the offset,
/// other than the largest, whose share of the pooled samples at or below it is nearest to `share`.
/// Where many samples have one offset, the cut can be far from that share, and p then tests whether
/// the distributions differ there. Throws std::invalid_argument if one of the two has no samples.
Difference quantile_difference(const OffsetCounts& a, const OffsetCounts& b, double share);

/// Returns p-values after Holm's adjustment (Scand. J. Statist. 6, 1979), in the order of `p`. If
/// all that are below a level are rejected, the probability of any wrong rejection is below that
/// level, also if the tests depend on each other.
std::vector<double> holm(std::span<const double> p);

}  // namespace skid::analysis
