#include "src/symbols/inlined_functions.h"

#include "src/support/address.h"
#include "src/support/thread_time.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include <dwarf.h>

namespace skid::symbols {
namespace {

constexpr std::size_t kDeepest = 256;        ///< levels of entries; code has some dozens
constexpr std::size_t kMostCalls = 16;       ///< at one address
constexpr std::uint32_t kTimedEntries = 64;  ///< entries between two looks at the clock

/// Whether entries of inlined calls can be below one with this tag.
bool has_code_below(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
      return true;
    default:
      return false;
  }
}

}  // namespace

InlinedFunctions::InlinedFunctions(Dwarf_Die unit, InliningBudget& budget) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Level {
    Dwarf_Die entry;
    std::uint32_t call;  ///< that the entries of this level are in; kNone: in none
  };
  std::vector<NumberedRange> ranges;
  std::vector<Level> levels;
  const std::uint64_t begin = thread_nanoseconds(), end = begin + budget.nanoseconds;
  const auto add_call = [&](Dwarf_Die& entry, std::uint32_t outer) {
    const auto number = static_cast<std::uint32_t>(calls_.size());
    calls_.push_back({dwarf_dieoffset(&entry), outer == kNone ? number : outer});
    Dwarf_Addr base = 0;
    AddressRange range;
    std::ptrdiff_t cursor = 0;
    while (budget.ranges > 0 &&
           (cursor = dwarf_ranges(&entry, cursor, &base, &range.begin, &range.end)) > 0) {
      ranges.push_back({range, number});
      --budget.ranges;
    }
    return number;
  };
  Dwarf_Die first;
  if (dwarf_child(&unit, &first) == 0) levels.push_back({first, kNone});
  for (std::uint32_t visited = 1; !levels.empty() && budget.ranges > 0; ++visited) {
    if (visited % kTimedEntries == 0 && thread_nanoseconds() > end) break;
    Level& level = levels.back();
    const int tag = dwarf_tag(&level.entry);
    std::uint32_t call = level.call;
    if (tag == DW_TAG_inlined_subroutine) call = add_call(level.entry, call);
    Dwarf_Die below;
    if (has_code_below(tag) && levels.size() < kDeepest && dwarf_child(&level.entry, &below) == 0) {
      levels.push_back({below, call});
      continue;
    }
    while (!levels.empty()) {
      Dwarf_Die& last = levels.back().entry;
      Dwarf_Die next;
      // Entries are in the order of the file; a damaged reference can lead backwards.
      if (dwarf_siblingof(&last, &next) == 0 && next.addr > last.addr) {
        last = next;
        break;
      }
      levels.pop_back();
    }
  }
  budget.nanoseconds -= std::min(budget.nanoseconds, thread_nanoseconds() - begin);
  ranges_ = DisjointRanges(std::move(ranges));
}

std::vector<Dwarf_Off> InlinedFunctions::at(std::uint64_t address) const {
  std::vector<Dwarf_Off> entries;
  for (std::optional<std::uint32_t> number = ranges_.find(address);
       number && entries.size() < kMostCalls;) {
    const Call& call = calls_[*number];
    entries.push_back(call.entry);
    number = call.outer == *number ? std::nullopt : std::optional(call.outer);
  }
  return entries;
}

}  // namespace skid::symbols
