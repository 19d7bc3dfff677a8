// How evenly samples fall on the places of blocks of code.
#pragma once

#include "analysis/distributions.h"
#include "analysis/intervals.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace skid::analysis {

/// The probability that any block of an even profile is called biased. The gamma distribution of p
/// is an approximation, which is up to twice too small far out in the tail of few samples.
inline constexpr double kBiasLevel = 0.01;

struct BlockEvenness {
  /// The test of even shares. Its p is by the gamma distribution that has the exact mean, variance
  /// and third moment of Pearson's statistic; if fewer than five samples are to be expected of a
  /// place, by simulation and by the chance of the largest count.
  Bias bias;
  double p_holm = 1;        ///< p adjusted for all blocks by Holm's method
  bool is_biased = false;   ///< p_holm is below kBiasLevel
  double half_sum = 0;      ///< half the sum of the differences from the even count, in samples
  double half_sum_due = 0;  ///< what evenness gives on average

  double excess() const { return half_sum - half_sum_due; }
};

struct ProfileEvenness {
  std::vector<BlockEvenness> blocks;  ///< in the given order
  std::size_t biased = 0;             ///< number of biased blocks
  /// The sum over the blocks of half_sum - half_sum_due, at least 0, divided by all samples. The
  /// interval is that of a parametric bootstrap: the blocks are drawn again from multinomial
  /// distributions whose shares are the observed ones, moved towards even ones by as much as chance
  /// alone moved them away on average.
  Interval misplaced;
};

/// Tests whether samples are even within each block, and estimates how many are misplaced. `blocks`
/// has the samples of each place; throws std::invalid_argument unless each block has at least two
/// places and one sample. What is drawn depends on the counts alone. The draws are bounded: with
/// more places the interval is made from fewer draws, and with more blocks of few samples the least
/// value that a simulated p can have is higher.
ProfileEvenness evenness_of_blocks(std::span<const std::vector<std::uint64_t>> blocks);

}  // namespace skid::analysis
