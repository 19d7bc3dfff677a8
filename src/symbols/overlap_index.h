// Overlapping address ranges: the newest or oldest one that covers an address.
#pragma once

#include "src/support/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::symbols {

/// An immutable sequence of ranges, oldest first. Finds the newest of the first n that covers an
/// address. A segment tree over the ranges' end points, each node with the ranges that span it,
/// oldest first. A range costs one entry where ranges are disjoint or repeat each other, as
/// mappings do, and at most 2·log2(ranges) where they overlap at random; a lookup is
/// O(log²(ranges)).
class OverlapIndex {
 public:
  OverlapIndex() = default;

  /// `ranges`: oldest first, none empty.
  explicit OverlapIndex(std::span<const AddressRange> ranges);

  /// Returns the number of the newest range that covers `address` among the oldest `count` ranges.
  std::optional<std::size_t> newest(std::uint64_t address, std::size_t count) const;

  /// Returns the number of the oldest range that covers `address`, without the oldest `first`
  /// ranges.
  std::optional<std::size_t> oldest(std::uint64_t address, std::size_t first) const;

  /// Returns the addresses around `address` that the same ranges cover. Never contains UINT64_MAX.
  AddressRange alike(std::uint64_t address) const;

 private:
  using Number = std::uint32_t;

  std::size_t leaves() const noexcept { return cuts_.empty() ? 0 : cuts_.size() - 1; }
  /// Returns the leaf at an address; 0: no range covers the address.
  std::size_t node_of(std::uint64_t address) const;
  /// Returns the numbers of the ranges that span a node, ascending.
  std::span<const Number> spanning(std::size_t node) const;

  std::vector<std::uint64_t> cuts_;     ///< all begins and ends, ascending, each once
  std::vector<std::size_t> node_ends_;  ///< ends of the lists of nodes in numbers_
  std::vector<Number> numbers_;         ///< lists of all nodes, concatenated
};

}  // namespace skid::symbols
