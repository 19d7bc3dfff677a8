// Overlapping address ranges: which of those that cover an address is the newest, or the innermost.
#pragma once

#include "src/support/address.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::symbols {

/// An immutable sequence of ranges: finds, for any address, the newest of the first n that covers
/// it. A segment tree over the ranges' end points, each node with the ranges that span it, oldest
/// first. A range costs one entry where ranges are disjoint or repeat each other, as mappings do,
/// and at most 2·log2(ranges) where they overlap at random; a lookup is O(log²(ranges)).
class OverlapIndex {
 public:
  OverlapIndex() = default;

  /// `ranges`: oldest first, none empty.
  explicit OverlapIndex(std::span<const AddressRange> ranges);

  /// The number of the newest range that covers `address`, looking only at the oldest `count`.
  std::optional<std::size_t> newest(std::uint64_t address, std::size_t count) const;

  /// The number of the oldest range that covers `address`, leaving out the oldest `first` ones.
  std::optional<std::size_t> oldest(std::uint64_t address, std::size_t first) const;

  /// Addresses around `address` that the same ranges cover. Without the last address of all.
  AddressRange alike(std::uint64_t address) const;

 private:
  using Number = std::uint32_t;

  std::size_t leaves() const noexcept { return cuts_.empty() ? 0 : cuts_.size() - 1; }
  /// The leaf at an address; 0: no range covers it.
  std::size_t node_of(std::uint64_t address) const;
  std::span<const Number> spanning(std::size_t node) const;

  std::vector<std::uint64_t> cuts_;     // all begins and ends, ascending, each once
  std::vector<std::size_t> node_ends_;  // where the list of each node ends in numbers_
  std::vector<Number> numbers_;         // the lists of all nodes, concatenated
};

/// An address range with a number assigned by the caller.
struct NumberedRange {
  AddressRange range;
  std::uint32_t number = 0;
};

/// Overlapping ranges cut into disjoint ones, so that a lookup is one binary search. Where they
/// overlap, the one that begins last wins, of equal begins the shortest, of equal ranges the last
/// given: the innermost, where ranges are nested.
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
