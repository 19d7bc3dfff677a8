// The basic blocks of a function, and those of its loops that have no branch inside.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace skid::code {
class FileCode;
struct Function;
}  // namespace skid::code

namespace skid::audit {

/// Instructions that are executed one after the other, from the first to the last.
struct BasicBlock {
  std::size_t begin = 0, end = 0;  ///< indices of FunctionCode::steps(), `end` exclusive
};

/// A loop of at most 64 basic blocks. Its branches leave it, except for the last one: each block
/// falls through to the next one, the last one branches to the first, and none ends with a call.
struct Loop {
  std::size_t first = 0, last = 0;  ///< indices of FunctionBlocks::basic
  /// The basic blocks that lead into the loop, and those that it leads to; nullopt: not all of them
  /// are known. The sources together are executed at least as often as the loop is entered, the
  /// destinations at least as often as it is left. The executions of two blocks of the loop do not
  /// differ by more than that.
  std::optional<std::vector<std::size_t>> sources, destinations;
};

struct FunctionBlocks {
  std::vector<BasicBlock> basic;  ///< ascending
  std::vector<Loop> loops;        ///< ascending and disjoint
};

/// Returns the basic blocks of a function up to the first instruction that does not decode. A call
/// ends a block, because the callee may not return, and so does an instruction that calls the
/// kernel. Returns no blocks if the function computes jumps, or if not all branches of the file are
/// known.
FunctionBlocks blocks_of(code::FileCode& file, const code::Function& function);

}  // namespace skid::audit
