// Instructions of a function that execute equally often.
#pragma once

#include "src/audit/file_code.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace skid::audit {

/// Instructions that are executed one after the other, from the first to the last.
struct BasicBlock {
  std::size_t begin = 0, end = 0;  ///< steps of the function
};

/// A loop of at most 64 basic blocks that is left at branches, but has none inside, and no calls:
/// each block falls through to the next one, and the last one branches to the first.
struct Loop {
  std::size_t first = 0, last = 0;  ///< indices of FunctionBlocks::basic
  /// The basic blocks from which it is entered, and those to which it is left: together they are
  /// executed at least as often as the loop is entered, and after that left, which is the largest
  /// difference between the executions of its blocks. nullopt: not all of them are known.
  std::optional<std::vector<std::size_t>> sources, destinations;
};

struct FunctionBlocks {
  std::vector<BasicBlock> basic;  ///< ascending
  std::vector<Loop> loops;        ///< ascending and disjoint
};

/// The basic blocks of a function up to the first instruction that does not decode. Calls end a
/// block: the callee may not return; so does what calls the kernel. None where the function
/// computes jumps, or not all branches of the file are known.
FunctionBlocks blocks_of(FileCode& file, const Function& function);

}  // namespace skid::audit
