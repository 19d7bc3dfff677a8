#include "src/symbols/overlap_index.h"

#include "src/support/error.h"

#include <algorithm>
#include <limits>

namespace skid::symbols {

namespace {

/// Calls `visit` for the nodes that together make up leaves [begin, end) of a tree whose leaves are
/// nodes n to 2n-1 and whose node i has the children 2i and 2i+1 (node 1 is the root).
template <typename Visit>
void for_each_spanned_node(std::size_t leaves, std::size_t begin, std::size_t end, Visit visit) {
  for (begin += leaves, end += leaves; begin < end; begin /= 2, end /= 2) {
    if (begin % 2 == 1) visit(begin++);
    if (end % 2 == 1) visit(--end);
  }
}

}  // namespace

OverlapIndex::OverlapIndex(std::span<const AddressRange> ranges) {
  if (ranges.size() > std::numeric_limits<Number>::max()) {
    throw Error("one process has too many mappings; expected at most 4294967295");
  }
  cuts_.reserve(ranges.size() * 2);
  for (const AddressRange& range : ranges) {
    cuts_.push_back(range.begin);
    cuts_.push_back(range.end);
  }
  std::ranges::sort(cuts_);
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  cuts_.shrink_to_fit();
  if (cuts_.empty()) return;

  const auto leaf = [this](std::uint64_t cut) {
    const auto found = std::ranges::lower_bound(cuts_, cut);
    return static_cast<std::size_t>(found - cuts_.begin());
  };
  // Two passes, as in a counting sort: the length of each node's list, then the lists themselves.
  // Ranges are added in order, so every list is in order.
  node_ends_.assign(2 * leaves(), 0);
  for (const AddressRange& range : ranges) {
    for_each_spanned_node(leaves(), leaf(range.begin), leaf(range.end),
                          [this](std::size_t node) { ++node_ends_[node]; });
  }
  std::size_t total = 0;
  for (std::size_t& end : node_ends_) {
    const std::size_t length = end;
    end = total;  // the start of the list; it moves to the end while the list is filled
    total += length;
  }
  numbers_.resize(total);
  for (std::size_t number = 0; number < ranges.size(); ++number) {
    for_each_spanned_node(leaves(), leaf(ranges[number].begin), leaf(ranges[number].end),
                          [this, number](std::size_t node) {
                            numbers_[node_ends_[node]++] = static_cast<Number>(number);
                          });
  }
}

std::size_t OverlapIndex::node_of(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(cuts_, address);
  if (after == cuts_.begin() || after == cuts_.end()) return 0;
  return static_cast<std::size_t>(after - cuts_.begin()) - 1 + leaves();
}

std::span<const OverlapIndex::Number> OverlapIndex::spanning(std::size_t node) const {
  const std::size_t begin = node == 0 ? 0 : node_ends_[node - 1];
  return std::span(numbers_).subspan(begin, node_ends_[node] - begin);
}

std::optional<std::size_t> OverlapIndex::newest(std::uint64_t address, std::size_t count) const {
  std::optional<std::size_t> result;
  for (std::size_t node = node_of(address); node >= 1; node /= 2) {
    const std::span<const Number> numbers = spanning(node);
    const auto after = std::ranges::lower_bound(numbers, count);
    if (after == numbers.begin()) continue;
    result = std::max<std::size_t>(result.value_or(0), *(after - 1));
  }
  return result;
}

std::optional<std::size_t> OverlapIndex::oldest(std::uint64_t address, std::size_t first) const {
  std::optional<std::size_t> result;
  for (std::size_t node = node_of(address); node >= 1; node /= 2) {
    const std::span<const Number> numbers = spanning(node);
    const auto number = std::ranges::lower_bound(numbers, first);
    if (number == numbers.end()) continue;
    result = std::min<std::size_t>(result.value_or(*number), *number);
  }
  return result;
}

AddressRange OverlapIndex::alike(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(cuts_, address);
  return {after == cuts_.begin() ? 0 : *(after - 1),
          after == cuts_.end() ? std::numeric_limits<std::uint64_t>::max() : *after};
}

}  // namespace skid::symbols
