// Two samples of offsets, or two shares, against each other: how far apart, and by chance or not.
#pragma once

#include <span>
#include <vector>

namespace skid::analysis {

class OffsetCounts;
struct Share;

/// Distances between two distributions of offsets; all throw std::invalid_argument when one of the
/// two has no samples.
///
/// Half the sum of the differences between the shares of each offset: 0 for equal ones, 1 for those
/// without a common offset.
double total_variation(const OffsetCounts& a, const OffsetCounts& b);
/// The first Wasserstein distance, in the unit of the offsets: by how much each sample must be
/// moved on average to make one distribution of the other. The area between the distribution
/// functions.
double wasserstein(const OffsetCounts& a, const OffsetCounts& b);
/// D: the largest difference between the distribution functions.
double kolmogorov_smirnov(const OffsetCounts& a, const OffsetCounts& b);

/// A bound of p of the two-sample Kolmogorov-Smirnov test: the chance of a D at least as large
/// where both are of one distribution. It is the p-value of continuous distributions, which bounds
/// the one of discrete ones from above (G. E. Noether, 1963): exact up to a product of the sample
/// sizes of 10,000 (J. L. Hodges, Arkiv för Matematik 3, 1958), of larger samples by Kolmogorov's
/// limit, which for a few samples is too small.
double kolmogorov_smirnov_p(const OffsetCounts& a, const OffsetCounts& b);

/// How much larger something is in b than in a.
struct Difference {
  double value = 0;          ///< b - a
  double low = 0, high = 0;  ///< infinite where the samples do not bound it on that side
  double p = 1;              ///< of a difference at least as large where there is none
};

/// Newcombe's hybrid score interval (Statistics in Medicine 17, 1998, method 10), made from the
/// intervals of the two shares; p by Fisher's exact test
/// (`fisher_exact_p`). A share of nothing can be anything: the interval reaches accordingly far.
Difference difference_of_shares(const Share& a, const Share& b);

/// The interval is made from those of the two means (`mean_interval`) by the method of variance
/// estimates recovery, MOVER (G. Y. Zou, A. Donner, Statistics in Medicine 27, 2008). p is the
/// larger one of two: Welch's t, which holds where the spreads differ, and the permutation test of
/// the means, which holds for few and skewed samples, approximated by the first three moments of
/// its distribution (Pearson's type III). Without any spread p is by Fisher's exact test. Throws
/// std::invalid_argument when one of the two has no samples.
Difference mean_difference(const OffsetCounts& a, const OffsetCounts& b);

/// The difference of the grouped quantiles of `share` (0 < share < 1), its interval by MOVER from
/// their intervals (`quantile_interval`). p is Mood's test for any quantile: the shares of samples
/// at most at the pooled quantile, by Fisher's exact test. Of the offsets that some samples are
/// above the cut is the one whose share of the pooled samples at or below it is nearest to `share`;
/// where many samples have one offset that can be far from it, and p then tests whether the
/// distributions differ there. Throws std::invalid_argument when one of the two has no samples.
Difference quantile_difference(const OffsetCounts& a, const OffsetCounts& b, double share);

/// Holm's adjustment (Scand. J. Statist. 6, 1979): rejecting what is below a level keeps the chance
/// of any wrong rejection below that level, whatever depends on what. In the order of `p`.
std::vector<double> holm(std::span<const double> p);

}  // namespace skid::analysis
