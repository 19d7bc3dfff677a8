// Distributions of offsets: distances of samples from their trigger, in instructions.
#pragma once

#include "src/support/random.h"

#include <cstdint>
#include <map>
#include <variant>
#include <vector>

namespace skid::synth {

/// Offsets of a model are within this distance: two times the longest runway and lead-in.
inline constexpr std::int64_t kFurthestOffset = std::int64_t{1} << 22;

/// Offsets by how often they occur. One row is a uniform distribution, one offset a constant.
struct OffsetTable {
  struct Row {
    std::int64_t lowest = 0, highest = 0;  ///< instructions; each of them equally likely
    std::uint64_t count = 1;
  };
  std::vector<Row> rows;

  /// The counts of single offsets: row by row, offset i of w has floor((i+1) c / w) - floor(i c /
  /// w) of its count c.
  std::map<std::int64_t, std::uint64_t> counts() const;
  std::uint64_t total() const;
};

/// A delay in core cycles after the trigger, normal, converted to instructions by the speed of the
/// runway: the sample is at the instruction that is next to retire when the delay is over. A
/// delay below 0 is none. In c cycles floor(c / cycles_per_nop) instructions retire, in whole
/// groups; the offset is 1 more.
struct NormalCycles {
  double mean = 0, stddev = 0;     ///< core cycles
  double cycles_per_nop = 0.25;    ///< core cycles per instruction of the runway
  std::uint64_t retire_group = 1;  ///< instructions that retire together
};

using Distribution = std::variant<OffsetTable, NormalCycles>;

/// Every sample at one offset.
inline Distribution always(std::int64_t offset) {
  return OffsetTable{{{offset, offset}}};
}

/// Draws offsets from a distribution, to which it refers. A table must have a count.
class OffsetSampler {
 public:
  explicit OffsetSampler(const Distribution& distribution);

  /// Instructions from the trigger, within kFurthestOffset.
  std::int64_t draw(Random& random) const;

 private:
  const Distribution& distribution_;
  std::vector<std::uint64_t> counts_;  ///< of a table, up to and including each row
};

}  // namespace skid::synth
