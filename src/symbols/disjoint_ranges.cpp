#include "src/symbols/disjoint_ranges.h"

#include "src/support/sorting.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace skid::symbols {

DisjointRanges::DisjointRanges(std::vector<NumberedRange> ranges) {
  std::erase_if(ranges, [](const NumberedRange& r) { return r.range.begin >= r.range.end; });
  stable_sort_rest(
      ranges, [](const NumberedRange& one) { return std::pair(one.range.begin, ~one.range.end); });

  // Go through the begins in ascending order. `open` contains the ranges that have begun, with the
  // one that applies at its end; the result is final for addresses below `done`.
  std::vector<NumberedRange> open;
  std::uint64_t done = 0;
  const auto settle_up_to = [&](std::uint64_t address) {
    while (!open.empty() && done < address) {
      const NumberedRange& top = open.back();
      const std::uint64_t end = std::min(top.range.end, address);
      if (done < end) append({done, end}, top.number);
      done = std::max(done, end);
      if (top.range.end <= done) open.pop_back();
    }
  };
  for (const NumberedRange& range : ranges) {
    settle_up_to(range.range.begin);
    done = range.range.begin;
    open.push_back(range);
  }
  settle_up_to(UINT64_MAX);
}

void DisjointRanges::append(AddressRange range, std::uint32_t number) {
  if (!pieces_.empty() && pieces_.back().number == number &&
      pieces_.back().range.end == range.begin) {
    pieces_.back().range.end = range.end;
  } else {
    pieces_.push_back({range, number});
  }
}

std::optional<std::uint32_t> DisjointRanges::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(
      pieces_, address, {}, [](const NumberedRange& piece) { return piece.range.begin; });
  const bool is_covered = after != pieces_.begin() && std::prev(after)->range.contains(address);
  return is_covered ? std::optional(std::prev(after)->number) : std::nullopt;
}

}  // namespace skid::symbols
