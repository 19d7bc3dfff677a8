// The code of one file: its functions, decoded as they are needed, in a few bytes an instruction,
// and its branches.
#pragma once

#include "analysis/not_judged.h"
#include "src/audit/branches.h"
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"
#include "src/symbols/module.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace skid::audit {

/// The facts of an instruction that an audit uses.
struct Step {
  instructions::Categories categories;  ///< empty where nothing decodes
  std::uint8_t length = 1;              ///< bytes
  instructions::Flow flow = instructions::Flow::leaves;
  instructions::Fusion fusion = instructions::Fusion::none;
  bool decodes = false;
  bool loads = false, stores = false;  ///< memory, by any operand
  /// Done in parts (REP strings, gathers, scatters): traps and interrupts between two of them find
  /// it as the next instruction.
  bool is_in_parts = false;
  bool delays_traps = false;
  /// Memory, but only by a mask or a condition.
  bool is_conditional = false;
  bool calls_kernel = false;

  bool accesses_memory() const noexcept { return loads || stores; }
  bool is_nop() const noexcept;
};

Step step_of(Arch arch, const std::optional<instructions::Instruction>& instruction);

/// A function decoded from its first byte to its end. Bytes that do not decode are stepped over one
/// by one, on aarch64 by words.
class FunctionCode {
 public:
  /// Larger ones are not decoded; compilers do not generate them.
  static constexpr std::uint64_t kLargest = std::uint64_t{4} << 20;

  FunctionCode(Arch arch, std::uint64_t begin, std::span<const std::byte> code);

  std::uint64_t begin() const noexcept { return begin_; }
  const std::vector<Step>& steps() const noexcept { return steps_; }
  std::uint64_t address_of(std::size_t index) const { return begin_ + offsets_[index]; }
  /// Of a direct jump or call.
  std::optional<std::uint64_t> target_of(std::size_t index) const;
  /// The instruction that begins at `address`; nullopt inside of one, or outside.
  std::optional<std::size_t> find(std::uint64_t address) const;
  /// Why nothing can be judged by the instruction at `address`: the code ends before, it is inside
  /// of one, or it does not decode; none: it can.
  analysis::NotJudged problem_at(std::uint64_t address) const;
  /// Whether all before that instruction decodes.
  bool decodes_until(std::size_t index) const noexcept { return index <= first_undecoded_; }
  /// How many instructions decode, from the first one on.
  std::size_t first_undecoded() const noexcept { return first_undecoded_; }
  /// Whether it jumps to an address in a register or memory.
  bool computes_jumps() const noexcept { return computes_jumps_; }

 private:
  std::uint64_t begin_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> offsets_;                          ///< of the steps, from `begin_`
  std::vector<std::pair<std::size_t, std::uint64_t>> targets_;  ///< by index, ascending
  bool computes_jumps_ = false;
  std::size_t first_undecoded_;  ///< steps_.size() where all decodes
};

/// A function, or the iteration of a target, decoded.
struct Function {
  std::string name;
  AddressRange range;
  FunctionCode code;
};

/// What the branches of a file say of a whole function, found in one pass over it.
struct Paths {
  bool computes_jumps = false;  ///< itself, or another part of it
  /// Of each instruction, whether the one before can have been executed: not if it is padding,
  /// which follows an instruction that does not fall through.
  std::vector<bool> falls_into;
};

class FileCode {
 public:
  /// `loop`: the iteration of a target that skidscan built, whose labels are entered only by the
  /// preceding instruction and by direct branches; nullopt for all other files. `module` and
  /// `budget` must outlive this.
  FileCode(const symbols::Module& module, Arch arch, std::optional<AddressRange> loop,
           CodeBudget& budget)
      : module_(module), arch_(arch), loop_(loop), budget_(budget) {}

  /// The function at a link-time address; `address` alone where there is none.
  AddressRange range_around(std::uint64_t address) const;

  struct Found {
    std::shared_ptr<const Function> function;                 ///< null: `problem`
    analysis::NotJudged problem = analysis::NotJudged::none;  ///< no_function or too_much_code
  };
  /// Decodes the function at a link-time address; the last one is kept.
  Found function_at(std::uint64_t address);

  Paths paths_of(const Function& function);
  /// Of all code of the file, which is decoded for the first call.
  const Branches& branches();
  /// Whether some code was not decoded, so that nothing is known of what precedes an instruction.
  bool is_cut() const { return budget_.is_exhausted() || (branches_ && !branches_->is_whole()); }
  bool is_in_loop(std::uint64_t address) const { return loop_ && loop_->contains(address); }
  /// Whether `address` has a symbol, by which it may be entered from anywhere.
  bool is_labelled(std::uint64_t address) {
    return !is_in_loop(address) && branches().is_labelled(address);
  }

  const symbols::Module& module() const { return module_; }
  Arch arch() const { return arch_; }
  CodeBudget& budget() { return budget_; }

 private:
  const symbols::Module& module_;
  Arch arch_;
  std::optional<AddressRange> loop_;
  CodeBudget& budget_;
  std::shared_ptr<const Function> last_;
  std::optional<Branches> branches_;
};

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
