// Whether the place of a sample follows from that of the one before: the period locks to a loop.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::analysis {

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
