#include "src/symbols/disjoint_ranges.h"

#include <algorithm>

namespace skid::symbols {

DisjointRanges::DisjointRanges(std::vector<NumberedRange> ranges) {
  std::erase_if(ranges, [](const NumberedRange& r) { return r.range.begin >= r.range.end; });
  std::ranges::stable_sort(ranges, [](const NumberedRange& a, const NumberedRange& b) {
    return a.range.begin != b.range.begin ? a.range.begin < b.range.begin
                                          : a.range.end > b.range.end;
  });

  // A sweep over the begins. `open` contains the ranges that have begun, the one that applies on
  // top; everything below `done` is final.
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
  const auto after = std::ranges::partition_point(
      pieces_, [address](const NumberedRange& piece) { return piece.range.begin <= address; });
  if (after == pieces_.begin()) return std::nullopt;
  const NumberedRange& piece = *(after - 1);
  if (!piece.range.contains(address)) return std::nullopt;
  return piece.number;
}

}  // namespace skid::symbols
