// Two samples of offsets, or two shares, against each other: how far apart, and by chance or not.
#pragma once

#include "analysis/statistics.h"

#include <cstdint>
#include <span>
#include <vector>

namespace skid::analysis {

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

struct KsTest {
  double d = 0;  ///< kolmogorov_smirnov
  /// The chance of a D at least as large where both are of one distribution.
  double p = 1;
  std::uint64_t permutations = 0;  ///< that were drawn
  /// p is that of continuous distributions, which bounds the one of discrete ones from above
  /// (G. E. Noether, 1963): it was too small for permutations to tell, or there were too many
  /// samples or offsets to permute.
  bool is_bound = false;
};

inline constexpr std::uint64_t kMostPermutations = 9'999;

/// The two-sample Kolmogorov-Smirnov test for discrete data: by permutations of the pooled samples,
/// until 20 of them have a D at least as large (J. Besag, P. Clifford, Biometrika 78, 1991) or
/// `most_permutations` are drawn, fewer where there are more than 400 offsets. The same seed gives
/// the same on every machine. Throws std::invalid_argument when one of the two has no samples.
KsTest ks_test(const OffsetCounts& a, const OffsetCounts& b, std::uint64_t seed,
               std::uint64_t most_permutations = kMostPermutations);

/// How much larger something is in b than in a.
struct Difference {
  double value = 0;          ///< b - a
  double low = 0, high = 0;  ///< infinite where the samples do not bound it on that side
  double confidence = 0.95;
  double p = 1;  ///< of a difference at least as large where there is none
};

/// Newcombe's hybrid score interval (Statistics in Medicine 17, 1998, method 10), made from the
/// intervals of the two shares, which must have the same confidence; p by Fisher's exact test
/// (`fisher_exact_p`). A share of nothing can be anything: the interval reaches accordingly far.
Difference difference_of_shares(const Share& a, const Share& b);

/// The interval is made from those of the two means (`mean_interval`) by the method of variance
/// estimates recovery, MOVER (G. Y. Zou, A. Donner, Statistics in Medicine 27, 2008). p by Welch's
/// t where the means of samples of this size are as good as normal by their skewness; else by
/// permutations, as `ks_test`, of Welch's statistic, and of the difference itself where one of the
/// two has a single sample. Throws std::invalid_argument when one of the two has no samples.
Difference mean_difference(const OffsetCounts& a, const OffsetCounts& b, std::uint64_t seed,
                           std::uint64_t most_permutations = kMostPermutations);

/// The difference of the grouped quantiles of `share` (0 < share < 1), its interval by MOVER from
/// their intervals (`quantile_interval`). p is Mood's test for any quantile: the shares of samples
/// at most at the pooled quantile, by Fisher's exact test. Of the offsets that some samples lie
/// above the cut is the one whose share of the pooled samples at or below it is nearest to `share`;
/// where many samples have one offset that can be far from it, and p tells whether the
/// distributions differ there. Throws std::invalid_argument when one of the two has no samples.
Difference quantile_difference(const OffsetCounts& a, const OffsetCounts& b, double share);

/// Holm's adjustment (Scand. J. Statist. 6, 1979): rejecting what is below a level keeps the chance
/// of any wrong rejection below that level, whatever depends on what. In the order of `p`.
std::vector<double> holm(std::span<const double> p);

}  // namespace skid::analysis
