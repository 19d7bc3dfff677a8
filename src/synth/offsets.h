// Distributions of skids, from which a model draws the offsets of samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <variant>
#include <vector>

namespace skid {
class Random;
}  // namespace skid

namespace skid::synth {

/// The maximum distance of a model's offsets: two times the longest runway and lead-in.
inline constexpr std::int64_t kFurthestOffset = std::int64_t{1} << 22;

/// Offsets by how often they occur. One row is a uniform distribution, one offset a constant.
struct OffsetTable {
  struct Row {
    std::int64_t lowest = 0, highest = 0;  ///< instructions; each of them equally likely
    std::uint64_t count = 1;
  };
  std::vector<Row> rows;

  /// Returns the counts of single offsets. In a row of w offsets with count c, offset i has
  /// floor((i+1) c / w) - floor(i c / w).
  std::map<std::int64_t, std::uint64_t> counts() const;
  std::uint64_t total() const;
};

/// A normally distributed delay in core cycles after the trigger, converted to instructions by the
/// speed of the runway: the sample is at the instruction that is next to retire when the delay is
/// over. A delay below 0 counts as 0. In c cycles floor(c / cycles_per_nop) instructions retire, in
/// whole groups; the offset is 1 more.
struct NormalCycles {
  double mean = 0, stddev = 0;     ///< core cycles
  double cycles_per_nop = 0.25;    ///< core cycles per instruction of the runway
  std::uint64_t retire_group = 1;  ///< instructions that retire together
};

using Distribution = std::variant<OffsetTable, NormalCycles>;

/// Returns a distribution with every sample at one offset.
inline Distribution always(std::int64_t offset) {
  return OffsetTable{{{offset, offset}}};
}

/// Draws offsets from a distribution, to which it refers. A table must have a count.
class OffsetSampler {
 public:
  explicit OffsetSampler(const Distribution& distribution);

  /// Draws an offset: instructions from the trigger, within kFurthestOffset.
  std::int64_t draw(Random& random) const;

 private:
  const Distribution& distribution_;
  std::vector<std::uint64_t> counts_;  ///< cumulative counts of a table's rows
};

}  // namespace skid::synth
