// Finds the basic blocks of a function, and those of its loops in which all blocks execute equally
// often, except for the iterations in which the loop is entered or left in the middle.
//
//   block 0        mov 8(%rsi), %rcx        falls into the loop: a source
//   block 1  top:  mov (%rdi), %rax         first block of the loop
//                  test %rax, %rax
//                  je out                   leaves the loop
//   block 2        add %rax, %rcx           falls through from block 1
//                  add $8, %rdi
//                  cmp %rdx, %rdi
//                  jne top                  last block: branches to the first
//   block 3        ret                      destination, when the last branch is not taken
//   block 4  out:  xor %eax, %eax           destination of the branch of block 1
//                  ret
//
// A block begins at the target of a direct branch anywhere in the file, at a symbol, and after a
// branch, a call, a system call or another instruction that does not simply continue with the next
// one. Here the loop is blocks 1 and 2. Each time that block 1 leaves the loop, it executes once
// more than block 2, but this happens at most as often as block 4 executes. A loop with a branch
// to one of its own blocks, other than the last branch, or with a call has no such bound and is
// left out.
#include "src/audit/function_blocks.h"

#include "src/code/branches.h"
#include "src/code/file_code.h"
#include "src/code/function_code.h"
#include "src/instructions/instruction.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <utility>

namespace skid::audit {

using code::Branches;
using code::Function;
using code::FunctionCode;
using code::Step;
using instructions::falls_through;
using instructions::Flow;

namespace {

constexpr std::size_t kMostBlocks = 64;  // basic blocks of a loop

struct Finder {
  code::FileCode& file;
  const FunctionCode& code;
  const Branches& branches = file.branches();
  FunctionBlocks found = {};

  FunctionBlocks find() {
    find_basic_blocks();
    for (std::size_t last = 0; last < found.basic.size(); ++last) {
      auto loop = loop_that_ends_with(last);
      const bool overlaps = loop && !found.loops.empty() && loop->first <= found.loops.back().last;
      if (!loop || overlaps) continue;
      loop->sources = sources_of(*loop);
      loop->destinations = destinations_of(*loop);
      found.loops.push_back(std::move(*loop));
    }
    return std::move(found);
  }

  using Blocks = std::optional<std::vector<std::size_t>>;

  const Step& step(std::size_t index) const { return code.steps()[index]; }
  const Step& last_step(std::size_t block) const { return step(found.basic[block].end - 1); }
  std::uint64_t address_of(std::size_t block) const {
    return code.address_of(found.basic[block].begin);
  }

  void find_basic_blocks() {
    const std::size_t end = code.first_undecoded();
    for (std::size_t i = 0; i < end; ++i) {
      const bool follows = i > 0 && step(i - 1).flow == Flow::next && !step(i - 1).calls_kernel;
      const std::uint64_t address = code.address_of(i);
      if (!follows || branches.may_enter(address) || file.is_labelled(address)) {
        if (!found.basic.empty()) found.basic.back().end = i;
        found.basic.push_back({i, end});
      }
    }
  }

  /// Returns the block with the instruction at `address`; nullopt: none begins there, or it is
  /// after one that does not decode.
  std::optional<std::size_t> block_around(std::uint64_t address) const {
    const auto index = code.find(address);
    if (!index || *index >= code.first_undecoded()) return std::nullopt;
    const auto after = std::ranges::upper_bound(found.basic, *index, {}, &BasicBlock::begin);
    return static_cast<std::size_t>(after - found.basic.begin()) - 1;
  }

  /// Returns the block that the branch at the end of a block leads to. nullopt: it is not in the
  /// function. A target in the function always begins a block.
  std::optional<std::size_t> target_of(std::size_t block) const {
    const auto target = code.target_of(found.basic[block].end - 1);
    return target ? block_around(*target) : std::nullopt;
  }

  std::optional<Loop> loop_that_ends_with(std::size_t last) const {
    const auto first = target_of(last);
    if (!first || *first > last || last - *first >= kMostBlocks) return std::nullopt;
    if (last_step(last).flow == Flow::call) return std::nullopt;
    for (std::size_t i = *first; i < last; ++i) {
      if (!falls_through(last_step(i).flow) || last_step(i).calls_kernel) return std::nullopt;
      const auto target = target_of(i);
      if (target && *first <= *target && *target <= last) return std::nullopt;
    }
    return Loop{*first, last, {}, {}};
  }

  Blocks sources_of(const Loop& loop) const {
    std::set<std::size_t> sources;
    for (std::size_t i = loop.first; i <= loop.last; ++i) {
      const std::uint64_t address = address_of(i);
      // Exception handlers begin after calls, and where nothing falls through.
      const bool falls_in = i > 0 && falls_through(last_step(i - 1).flow);
      if (!falls_in || last_step(i - 1).calls_kernel || file.is_labelled(address) ||
          branches.may_enter_from_elsewhere(address)) {
        return std::nullopt;
      }
      if (i == loop.first) sources.insert(i - 1);
      for (const auto& branch : branches.branches_to(address)) {
        const auto from = block_around(branch.from);
        if (!from) return std::nullopt;
        if (*from < loop.first || *from > loop.last) sources.insert(*from);
      }
    }
    return std::vector<std::size_t>(sources.begin(), sources.end());
  }

  Blocks destinations_of(const Loop& loop) const {
    std::set<std::size_t> destinations;
    for (std::size_t i = loop.first; i <= loop.last; ++i) {
      if (i == loop.last && last_step(i).flow == Flow::conditional) {
        if (i + 1 == found.basic.size()) return std::nullopt;
        destinations.insert(i + 1);
      }
      if (i == loop.last || last_step(i).flow == Flow::next) continue;
      const auto target = target_of(i);
      if (!target) return std::nullopt;
      destinations.insert(*target);
    }
    return std::vector<std::size_t>(destinations.begin(), destinations.end());
  }
};

}  // namespace

FunctionBlocks blocks_of(code::FileCode& file, const Function& function) {
  if (file.computes_jumps(function) || file.is_cut()) return {};
  return Finder{file, function.code}.find();
}

}  // namespace skid::audit
