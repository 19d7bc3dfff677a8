// The code of one file, whose functions are decoded as they are needed.
#pragma once

#include "analysis/not_judged.h"
#include "src/code/branches.h"
#include "src/code/code_budget.h"
#include "src/code/function_code.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

namespace skid::code {

/// How control reaches the instructions of a function, found in one pass over it with the branches
/// of its file.
struct Paths {
  bool computes_jumps = false;  ///< the function itself does, or another part of it
  /// For each instruction, whether the one before it can have been executed. It cannot if it is
  /// padding, which follows an instruction that does not fall through.
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

  /// Returns the range of the function at a link-time address; `address` alone if no function is
  /// there.
  AddressRange range_around(std::uint64_t address) const;

  struct Found {
    std::shared_ptr<const Function> function;                 ///< null: see `problem`
    analysis::NotJudged problem = analysis::NotJudged::none;  ///< no_function or too_much_code
  };
  /// Decodes the function at a link-time address, and keeps it until another one is decoded.
  Found function_at(std::uint64_t address);

  /// Whether the function, or another part of it (NAME.cold), has jumps to computed addresses.
  bool computes_jumps(const Function& function) {
    return function.code.computes_jumps() ||
           branches().computes_jumps(function.name, function.range.begin);
  }
  Paths paths_of(const Function& function);
  /// Returns the branches of all code of the file, which the first call decodes.
  const Branches& branches();
  /// Whether some code was not decoded. What precedes an instruction is then not known.
  bool is_cut() const { return budget_.is_exhausted() || (branches_ && !branches_->is_whole()); }
  bool is_in_loop(std::uint64_t address) const { return loop_ && loop_->contains(address); }
  /// Whether a symbol has the value `address`, so that it may be entered from anywhere.
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

}  // namespace skid::code
