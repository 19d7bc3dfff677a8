// Skid offsets modulo small numbers: CPUs retire instructions in groups, so that samples can land
// on every fourth one.
#pragma once

#include "analysis/distributions.h"
#include "analysis/statistics.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace skid::analysis {

inline constexpr int kSmallestModulus = 2;
inline constexpr int kLargestModulus = 8;

/// The skids with offset % modulus == 0, 1, ….
struct Residues {
  int modulus = 0;
  std::vector<std::uint64_t> counts;
  /// Compared with a distribution of the same shape without groups: its moving average over
  /// `modulus` offsets. Equal residues would be the wrong reference, because a smooth but narrow
  /// distribution does not have them. Where the moving average would reach past the skids, or
  /// across the most common offset, nothing is compared: an edge or a single peak is not a group.
  struct Excess : ChiSquareTest {  ///< modulus - 1 degrees; p assumes independent samples
    /// The share of the compared samples that would have to move for the residues to be those of
    /// the moving average: 0 to 1 - 1 / modulus.
    double share = 0;
  };
  /// nullopt if nine tenths of the skids off the most common offset are within four times the
  /// modulus, or most of them on one or two offsets (two of them share one with a chance above a
  /// third), or too few can be compared (5 to be expected of each residue).
  std::optional<Excess> excess;
};

struct RetirementGroups {
  std::vector<Residues> moduli;  ///< kSmallestModulus to kLargestModulus
  /// The modulus of the groups: of those with p < 0.001 by Holm's adjustment and an excess of at
  /// least 0.05 the smallest whose excess is not far (a twentieth) below the largest, since groups
  /// of four show modulo eight as well. nullopt where there is none.
  std::optional<int> strongest;
};

/// Residues of the offsets above 0 and below the first censored one; nullopt without any. They
/// describe a distribution: several sharp peaks can look like groups without being ones.
std::optional<RetirementGroups> retirement_groups_of(const OffsetCounts& offsets,
                                                     std::optional<std::int64_t> censored_from);

}  // namespace skid::analysis
