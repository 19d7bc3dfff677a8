// The code of one file: its functions, decoded as they are needed, in a few bytes an instruction,
// and its branches.
#pragma once

#include "analysis/not_judged.h"
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

namespace skid::audit {

/// The work on the code of a recording that is left, in instructions that are decoded or looked at
/// for a sample. Compilers' code needs a fraction of it; code that was made to be slow, any number.
class CodeBudget {
 public:
  void take(std::uint64_t instructions) noexcept { left_ -= std::min(instructions, left_); }
  bool is_exhausted() const noexcept { return left_ == 0; }

 private:
  std::uint64_t left_ = 50'000'000;
};

/// RET, not what traps.
bool returns(const instructions::Instruction& instruction);

/// All branches of a file, found by decoding its executable sections from each function's first
/// byte on, as far as the budget allows. The destinations of computed jumps are unknown; they are
/// taken to stay in their function. Its parts (".cold", ".part.0") have the same name up to the
/// first '.'; where symbols were stripped, parts are code that a direct jump joins with the middle
/// of the function, either way. A RET after a store to its return address is a computed jump, too,
/// and so is a jump to such code (retpolines).
class Branches {
 public:
  /// The most bytes that are decoded, and the most branches that are kept.
  static constexpr std::uint64_t kMostCode = std::uint64_t{128} << 20;
  static constexpr std::size_t kMostBranches = 7'000'000;

  Branches(const symbols::Module& module, Arch arch, CodeBudget& budget);

  /// Where direct branches come from.
  enum class Kind : std::uint8_t {
    call,
    jump_from_elsewhere,  ///< from outside of the function of its target
    jump_within,
  };
  /// A direct jump or call.
  struct Branch {
    std::uint64_t to = 0;  ///< target
    Kind kind = Kind::call;
    std::uint64_t from = 0;  ///< the branch's own address

    friend auto operator<=>(const Branch&, const Branch&) = default;
  };
  /// All direct branches to `address` in the decoded code, by kind and source.
  std::span<const Branch> branches_to(std::uint64_t address) const;
  /// All direct branches into a range, lowest target first.
  std::span<const Branch> branches_into(AddressRange range) const;
  /// Calls and jumps through a pointer in memory at a fixed place (`call *pointer(%rip)`), if that
  /// place is one of `bytes`.
  std::vector<std::uint64_t> branches_through(AddressRange bytes) const;
  /// Whether all of the file's code was decoded.
  bool is_whole() const noexcept { return is_whole_; }

  /// Whether a direct jump or call goes to `address`, or may do so where not all was decoded.
  bool may_enter(std::uint64_t address) const {
    return !is_whole_ || !branches_to(address).empty();
  }
  /// Whether a call, or a jump from another function, goes there, or may do so.
  bool may_enter_from_elsewhere(std::uint64_t address) const;
  /// Whether a symbol of any kind and visibility has that value.
  bool is_labelled(std::uint64_t address) const {
    return std::ranges::binary_search(labels_, address);
  }
  /// Whether a function of that name, or another part of it, jumps to an address in a register or
  /// memory, by itself or through a retpoline.
  bool computes_jumps(const std::string& function) const;

 private:
  void scan(const symbols::Module& module, std::uint64_t begin, std::uint64_t end);
  /// Finds which further functions computed jumps may lead into.
  void spread_computed_jumps(const symbols::Module& module);
  /// Notes that the function at an address computes jumps.
  void add_computing(const symbols::Module& module, std::uint64_t address);
  /// Of the function at an address, or of the code between functions.
  std::uint64_t begin_of_part(const symbols::Module& module, std::uint64_t address) const;

  std::vector<Branch> branches_;  ///< ascending
  /// The bytes that hold the target of a branch, and the branch's own address. Ascending.
  std::vector<std::pair<AddressRange, std::uint64_t>> through_memory_;
  std::vector<std::uint64_t> labels_;  ///< ascending
  /// Where ranges begin in which a RET follows a store to its return address.
  std::vector<std::uint64_t> thunks_;
  std::vector<std::uint64_t> gaps_;            ///< where code between functions begins, ascending
  std::vector<std::uint64_t> computing_code_;  ///< where functions and gaps with such jumps begin
  std::unordered_set<std::string> computing_;
  Arch arch_;
  CodeBudget& budget_;
  std::uint64_t left_ = kMostCode;
  bool is_whole_ = true;
};

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
  bool is_nop() const noexcept {
    return categories == instructions::Categories{instructions::Category::nop};
  }
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

  /// Whether the function, or another part of it (NAME.cold), has jumps to computed addresses.
  bool computes_jumps(const Function& function) {
    return function.code.computes_jumps() || branches().computes_jumps(function.name);
  }
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
