// The layout of a target, as statistics need it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::analysis {

/// Offsets, triggers and distances of a target, in instructions unless a name has `bytes`.
struct Geometry {
  /// Offsets in instructions that can occur: from -(lead-in) to the longest runway.
  std::int64_t lowest_offset = 0, highest_offset = 0;
  /// The first censored offset in instructions, that of the shortest runway where there are
  /// several; nullopt without a censored class.
  std::optional<std::int64_t> censored_from;
  std::optional<std::int64_t> censored_from_bytes;  ///< the first censored offset in bytes
  std::vector<std::uint64_t> trigger_addresses;     ///< in the triggers' order; at least one
  /// Instructions from each trigger to the next. The last distance leads to the first trigger of
  /// the next iteration, without the few instructions of the loop. Empty for `of_functions`.
  std::vector<std::uint64_t> trigger_distances;
  /// The share of hits if lead-in, triggers and runways took equally long per instruction (the few
  /// instructions of the loop are left out); nullopt for `of_functions`, where the instructions of
  /// the hit function are not known.
  std::optional<double> even_hit_share;

  friend bool operator==(const Geometry&, const Geometry&) = default;
};

}  // namespace skid::analysis
