// Functions that the compiler inlined, by address, from DWARF.
#pragma once

#include "src/symbols/disjoint_ranges.h"

#include <cstdint>
#include <vector>

#include <elfutils/libdw.h>

namespace skid::symbols {

/// What may still be spent on a file's inlined functions.
struct InliningBudget {
  std::uint64_t ranges = 0;       ///< address ranges that may be kept
  std::uint64_t nanoseconds = 0;  ///< CPU time of a thread
};

/// The inlined functions of one compilation unit (DWARF 5, section 3.3.8): entries with ranges,
/// nested as the calls were.
class InlinedFunctions {
 public:
  InlinedFunctions() = default;
  /// Walks the entries of a unit, all of whose bytes can be read. Takes what it uses from `budget`;
  /// without any left, inlined functions are missing.
  InlinedFunctions(Dwarf_Die unit, InliningBudget& budget);

  /// Returns the offsets in .debug_info of the entries of the calls that are inlined at `address`,
  /// the innermost first; at most the 16 innermost.
  std::vector<Dwarf_Off> at(std::uint64_t address) const;

 private:
  struct Call {
    Dwarf_Off entry = 0;
    std::uint32_t outer = 0;  ///< number of the call that it is in; its own: none
  };
  std::vector<Call> calls_;
  DisjointRanges ranges_;  ///< numbers are indices of calls_
};

}  // namespace skid::symbols
