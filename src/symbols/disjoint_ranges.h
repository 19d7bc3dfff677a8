// Overlapping address ranges cut into disjoint ones, so that a lookup is one binary search.
#pragma once

#include "src/support/address.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace skid::symbols {

/// An address range with a number assigned by the caller.
struct NumberedRange {
  AddressRange range;
  std::uint32_t number = 0;
};

/// Where ranges overlap, the one that begins last wins, of equal begins the shortest, of equal
/// ranges the last given: the innermost, where ranges are nested.
class DisjointRanges {
 public:
  DisjointRanges() = default;
  explicit DisjointRanges(std::vector<NumberedRange> ranges);

  /// The number of the range that covers `address`.
  std::optional<std::uint32_t> find(std::uint64_t address) const;

 private:
  void append(AddressRange range, std::uint32_t number);

  std::vector<NumberedRange> pieces_;  // disjoint, ascending
};

}  // namespace skid::symbols
