// How evenly samples fall on the places of blocks. All places of a block must have equally many.
#pragma once

#include "analysis/distributions.h"
#include "analysis/statistics.h"

#include <cstddef>
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

// Whether the place of a sample follows from that of the one before: the period locks to a loop.

struct SampleOrder {
  std::uint64_t pairs = 0;  ///< of consecutive samples
  double predicted = 0;     ///< share of next samples that are where most followed the same place
  double independent = 0;   ///< the same with nearby samples in any order
  double p = 1;             ///< of so many more predicted than of samples in any order
};

/// Samples are locked from this share on, of what samples in any order leave unpredicted.
inline constexpr double kLocked = 0.2;

/// Consecutive samples of threads at the places of one loop.
///
/// They are cut into windows of eight. What follows each place most often is learned from every
/// other window and tested in the rest, and the other way round. Within a window all orders are
/// equally likely if samples are independent, also while a program changes slowly. So the pairs
/// predicted in a window, minus their mean over all its orders, have the mean 0. Their sum over the
/// root of the sum of their squares is about normal.
class SampleOrderTest {
 public:
  /// Samples of one thread with none between them, by their number of place.
  void add(std::span<const std::uint32_t> places);
  /// nullopt for fewer than 100 pairs.
  std::optional<SampleOrder> finish() const;

 private:
  std::vector<std::vector<std::uint32_t>> windows_;
};

/// `p`: adjusted for all loops that were tested.
bool is_locked(const SampleOrder& order, double p);

}  // namespace skid::analysis
