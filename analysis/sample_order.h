// Whether the place of a sample follows from that of the previous one: the period locks to a loop.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::analysis {

/// How well the place of a sample predicts that of the next one.
struct SampleOrder {
  std::uint64_t pairs = 0;  ///< pairs of consecutive samples
  double predicted = 0;     ///< share of next samples that are where most followed the same place
  double independent = 0;   ///< the share predicted if nearby samples are in any order
  /// The probability that at least as many are predicted if samples are in any order.
  double p = 1;
};

/// Samples are locked if the order predicts at least this share of what samples in any order leave
/// unpredicted.
inline constexpr double kLocked = 0.2;

/// Tests consecutive samples of threads at the places of one loop.
///
/// They are cut into windows of eight. What follows each place most often is learned from every
/// other window and tested in the rest, and the other way round. If samples are independent, all
/// orders within a window are equally likely, also while a program changes slowly. So the pairs
/// predicted in a window, minus their mean over all its orders, have the mean 0, and their sum
/// divided by the root of the sum of their squares is about normal.
class SampleOrderTest {
 public:
  /// Adds consecutive samples of one thread, by the numbers of their places. No sample is missing
  /// between them.
  void add(std::span<const std::uint32_t> places);
  /// Returns the result; nullopt for fewer than 100 pairs.
  std::optional<SampleOrder> finish() const;

 private:
  std::vector<std::vector<std::uint32_t>> windows_;
};

/// Whether samples are locked to a loop. `p` is adjusted for all loops that were tested.
bool is_locked(const SampleOrder& order, double p);

}  // namespace skid::analysis
