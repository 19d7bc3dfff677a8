// Skid offsets modulo small numbers: CPUs retire instructions in groups, so that samples can land
// on every fourth one.
#pragma once

#include "analysis/distributions.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::analysis {

class OffsetCounts;

inline constexpr int kSmallestModulus = 2;
inline constexpr int kLargestModulus = 8;

/// The skids with offset % modulus == 0, 1, ….
struct Residues {
  int modulus = 0;
  std::vector<std::uint64_t> counts;
  /// The comparison with a distribution of the same shape without groups: the moving average over
  /// `modulus` offsets. Equal residues would be the wrong reference, because a smooth but narrow
  /// distribution does not have them. Offsets are left out where the moving average would reach
  /// past the skids, or across the most common offset: an edge or a single peak is not a group.
  struct Excess : ChiSquareTest {  ///< modulus - 1 degrees; p assumes independent samples
    /// The share of the compared samples that would have to move for the residues to be those of
    /// the moving average: 0 to 1 - 1 / modulus.
    double share = 0;
  };
  /// nullopt if nine tenths of the skids off the most common offset are within four times the
  /// modulus, or if most of them are on one or two offsets (the probability that two of them share
  /// one is above a third), or if too few can be compared (5 are to be expected of each residue).
  std::optional<Excess> excess;
};

struct RetirementGroups {
  std::vector<Residues> moduli;  ///< kSmallestModulus to kLargestModulus
  /// The modulus of the groups, among those with p < 0.001 by Holm's adjustment and an excess of at
  /// least 0.05. Groups of four show modulo eight as well, so it is the smallest one whose excess
  /// is at most a twentieth below the largest. nullopt if there is none.
  std::optional<int> strongest;
};

/// Counts the residues of the offsets above 0 and below the first censored one; nullopt without
/// any. They describe a distribution: several sharp peaks can look like groups without being ones.
std::optional<RetirementGroups> retirement_groups_of(const OffsetCounts& offsets,
                                                     std::optional<std::int64_t> censored_from);

}  // namespace skid::analysis
