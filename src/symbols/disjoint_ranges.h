// Overlapping address ranges cut into disjoint ones: the innermost range that contains an address.
#pragma once

#include "src/support/address.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::symbols {

/// An address range with a number assigned by the caller.
struct NumberedRange {
  AddressRange range;
  std::uint32_t number = 0;
};

/// Overlapping ranges cut into disjoint ones, so that a lookup is one binary search. Where ranges
/// overlap, the one that begins last wins; if several begin there, the shortest; if ranges are
/// equal, the last given. Of nested ranges this is the innermost.
class DisjointRanges {
 public:
  DisjointRanges() = default;
  explicit DisjointRanges(std::vector<NumberedRange> ranges);

  /// Returns the number of the range that covers `address`.
  std::optional<std::uint32_t> find(std::uint64_t address) const;

 private:
  void append(AddressRange range, std::uint32_t number);

  std::vector<NumberedRange> pieces_;  ///< disjoint, ascending
};

}  // namespace skid::symbols
