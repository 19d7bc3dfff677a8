// The code of one file: its functions, decoded as they are needed, and its branches.
#pragma once

#include "analysis/not_judged.h"
#include "src/audit/branches.h"
#include "src/audit/function_code.h"
#include "src/support/address.h"
#include "src/symbols/module.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skid::audit {

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

}  // namespace skid::audit
