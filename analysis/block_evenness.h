// How evenly samples fall on the places of blocks. All places of a block must have equally many.
#pragma once

#include "analysis/bias.h"
#include "analysis/intervals.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace skid::analysis {

/// The chance that any block of an even profile is called biased. The gamma distribution of p is an
/// approximation, which is up to twice too small far out in the tail of few samples.
inline constexpr double kBiasLevel = 0.01;

struct BlockEvenness {
  /// Its p is of Pearson's statistic by the gamma distribution that has the statistic's exact mean,
  /// variance and third moment; with fewer than five samples expected of a place, by simulation.
  Bias bias;
  double p_holm = 1;        ///< adjusted for all blocks by Holm's method
  bool is_biased = false;   ///< p_holm is below kBiasLevel
  double half_sum = 0;      ///< of the differences from the even count, in samples
  double half_sum_due = 0;  ///< what evenness gives on average

  double excess() const { return half_sum - half_sum_due; }
};

struct ProfileEvenness {
  std::vector<BlockEvenness> blocks;  ///< as given
  std::size_t biased = 0;             ///< blocks
  /// The sum over the blocks of half_sum - half_sum_due, at least 0, over all samples. The interval
  /// is that of a parametric bootstrap: the blocks are drawn again from multinomial distributions
  /// whose shares are the observed ones, moved towards even ones by as much as chance alone moved
  /// them away on average.
  Interval misplaced;
};

/// `blocks`: the samples of each place; at least two places and one sample a block, else throws
/// std::invalid_argument. What is drawn depends on the counts alone. The draws are bounded: of more
/// places the interval is made from fewer draws, and of more blocks with few samples their p has a
/// higher least value.
ProfileEvenness evenness_of_blocks(std::span<const std::vector<std::uint64_t>> blocks);

}  // namespace skid::analysis
