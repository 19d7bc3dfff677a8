// How the samples of a place with several candidates are split between them.
#pragma once

#include "src/perfdata/recording.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace skid::correct {

/// Parts of `samples` in proportion to `weights` (none negative, not all 0), by largest remainder:
/// they add up to `samples`.
std::vector<std::uint64_t> apportion(std::uint64_t samples, std::span<const double> weights);

/// The ways to an instruction, in bytes of its file.
struct Ways {
  symbols::FileIndex file = 0;
  std::uint64_t offset = 0;  ///< of the instruction
  /// Of the last instructions before it, each once; it follows the one at `falls_from`, if any,
  /// without a jump.
  std::vector<std::uint64_t> from;
  std::size_t falls_from = SIZE_MAX;  ///< index in `from`
  // Counted:
  std::vector<std::uint64_t> taken;  ///< as often `from` led there
  std::uint64_t elsewhere = 0;       ///< as often another instruction did
};

/// Counts the ways in the branch records of all samples (PERF_SAMPLE_BRANCH_STACK, newest branch
/// first): a jump from `from` to the instruction, or a run without jumps, from the target of one
/// branch to the next, through the instruction. Does nothing if no event has branch records.
/// `recording`: after digest(), which gave `spaces`.
void count_ways(perfdata::Recording& recording, const symbols::AddressSpaces& spaces,
                std::vector<Ways>& ways);

}  // namespace skid::correct
