// The direct branches of a file, and which of its functions compute the destinations of jumps.
#pragma once

#include "src/support/address.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace skid::instructions {
struct Instruction;
}  // namespace skid::instructions

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

namespace skid::code {

class CodeBudget;

/// Whether an instruction is a RET, and not one that traps.
bool returns(const instructions::Instruction& instruction);

/// All branches of a file, found by decoding its executable sections from each function's first
/// byte on, as far as the budget allows.
///
/// The destinations of computed jumps are unknown; they are taken to stay in their function. The
/// other parts of a function (".cold", ".part.0") have its name up to the first '.'. Where symbols
/// were stripped, code counts as a part if a direct jump leads from it into the middle of the
/// function, or from there into its middle. A RET after a store to its return address is a computed
/// jump, too, and so is a jump to such code (retpolines).
class Branches {
 public:
  /// The most bytes that are decoded, and the most branches that are kept.
  static constexpr std::uint64_t kMostCode = std::uint64_t{128} << 20;
  static constexpr std::size_t kMostBranches = 7'000'000;

  Branches(const symbols::Module& module, Arch arch, CodeBudget& budget);

  /// Where direct branches come from.
  enum class Kind : std::uint8_t {
    call,
    jump_from_elsewhere,  ///< jump from outside of the function of its target
    jump_within,
  };
  /// A direct jump or call.
  struct Branch {
    std::uint64_t to = 0;  ///< target
    Kind kind = Kind::call;
    std::uint64_t from = 0;  ///< the branch's own address

    friend auto operator<=>(const Branch&, const Branch&) = default;
  };
  /// Returns all direct branches to `address` in the decoded code, by kind and source.
  std::span<const Branch> branches_to(std::uint64_t address) const;
  /// Returns all direct branches into a range, lowest target first.
  std::span<const Branch> branches_into(AddressRange range) const;
  /// Returns the memory from which indirect jumps and calls read where to go, at addresses that do
  /// not depend on registers: the slots of the PLT, pointers to functions. Ascending, apart.
  const std::vector<AddressRange>& slots() const noexcept { return slots_; }
  /// Whether all of the file's code was decoded.
  bool is_whole() const noexcept { return is_whole_; }

  /// Whether a direct jump or call goes to `address`, or may do so where not all was decoded.
  bool may_enter(std::uint64_t address) const {
    return !is_whole_ || !branches_to(address).empty();
  }
  /// Whether a call, or a jump from another function, goes to `address`, or may do so where not all
  /// was decoded.
  bool may_enter_from_elsewhere(std::uint64_t address) const;
  /// Whether `address` is the value of a symbol, of any kind and visibility.
  bool is_labelled(std::uint64_t address) const {
    return std::ranges::binary_search(labels_, address);
  }
  /// Whether a function of that name, or another part of it, jumps to an address in a register or
  /// memory, by itself or through a retpoline.
  /// `begin`: its first byte, which tells functions without a name apart.
  bool computes_jumps(const std::string& function, std::uint64_t begin) const;

 private:
  void scan(const symbols::Module& module, std::uint64_t begin, std::uint64_t end);
  void add_slots(const instructions::Instruction& instruction, std::uint64_t address);
  /// Finds which further functions computed jumps may lead into.
  void spread_computed_jumps(const symbols::Module& module);
  /// Notes that the function at an address computes jumps.
  void add_computing(const symbols::Module& module, std::uint64_t address);
  /// Returns where the function at an address, or the code between two functions, begins.
  std::uint64_t begin_of_part(const symbols::Module& module, std::uint64_t address) const;

  std::vector<Branch> branches_;  ///< ascending
  std::vector<AddressRange> slots_;
  std::vector<std::uint64_t> labels_;  ///< ascending
  /// The first addresses of functions, and of code between functions, in which a RET follows a
  /// store to its return address.
  std::vector<std::uint64_t> thunks_;
  std::vector<std::uint64_t> gaps_;  ///< first addresses of code between functions, ascending
  /// The first addresses of functions and of code between functions that compute jumps.
  std::vector<std::uint64_t> computing_code_;
  /// The names of functions that compute jumps, up to the first '.'; of those without a name where
  /// they begin.
  std::unordered_set<std::string> computing_;
  Arch arch_;
  CodeBudget& budget_;
  std::uint64_t left_ = kMostCode;  ///< bytes that may still be decoded
  bool is_whole_ = true;
};

}  // namespace skid::code
