// Where the code of a file can be entered other than from the preceding instruction.
#pragma once

#include "src/instructions/instruction.h"
#include "src/support/address.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

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
  bool may_enter(std::uint64_t address) const;
  /// Whether a call, or a jump from another function, goes there, or may do so.
  bool may_enter_from_elsewhere(std::uint64_t address) const;
  /// Whether a symbol of any kind and visibility has that value.
  bool is_labelled(std::uint64_t address) const;
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

}  // namespace skid::audit
