// Whether a branch record can be what the code did.
#pragma once

#include "src/audit/branch_counter.h"
#include "src/audit/branches.h"
#include "src/instructions/instruction.h"
#include "src/locate/module_store.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace skid::audit {

struct BranchVerdict {
  BranchFault fault = BranchFault::none;
  BranchUnjudged unjudged = BranchUnjudged::none;  ///< none: it is judged
  bool by_addresses = false;
  /// The file whose code would be needed; kNoFile: none.
  symbols::FileIndex missing = symbols::Region::kNoFile;
};

/// Judges the records of a recording by the code of its files.
class BranchJudge {
 public:
  /// `fuses`: whether `from` may be an instruction before the branch that it is fused with, as the
  /// LBR of AMD records it (get_branch_type() in arch/x86/events/utils.c). `arch`: as recorded.
  BranchJudge(const symbols::AddressSpaces& spaces, locate::ModuleStore& modules,
              std::optional<Arch> arch, bool fuses)
      : spaces_(spaces), modules_(modules), arch_(arch), fuses_(fuses) {}

  BranchVerdict judge(const CountedBranch& branch);

  /// The module of a place, if its code can be used, and the link-time address.
  struct Code {
    const symbols::Module* module = nullptr;
    std::uint64_t address = 0;
    BranchUnjudged problem = BranchUnjudged::none;
  };
  Code code_at(const BranchPlace& place);

 private:
  /// What one check finds: nothing wrong, a fault, or why it cannot tell.
  struct Finding {
    BranchFault fault = BranchFault::none;
    BranchUnjudged unknown = BranchUnjudged::none;
  };
  static constexpr Finding kUndecided{BranchFault::none, BranchUnjudged::undecided};
  struct File {
    const symbols::Module* module = nullptr;
    BranchUnjudged problem = BranchUnjudged::none;
  };
  /// Code that was read last, of one module.
  struct Window {
    const symbols::Module* module = nullptr;
    std::uint64_t begin = 0;
    std::vector<std::byte> bytes;
  };

  const File& file(symbols::FileIndex index);
  std::span<const std::byte> bytes_at(const symbols::Module& module, std::uint64_t address);
  std::optional<instructions::Instruction> instruction_at(const symbols::Module& module,
                                                          std::uint64_t address);
  Finding branch(const CountedBranch& branch);
  Finding transfer(const CountedBranch& branch, const instructions::Instruction& instruction,
                   std::uint64_t address);
  Finding no_branch(const CountedBranch& branch, const Code& code,
                    const instructions::Instruction& instruction);
  Finding run(const CountedBranch& branch);
  bool follows_call(const Code& code);

  const symbols::AddressSpaces& spaces_;
  locate::ModuleStore& modules_;
  std::optional<Arch> arch_;
  bool fuses_;
  std::map<symbols::FileIndex, File> files_;
  Window window_;
  CodeBudget budget_;  ///< of runs
};

}  // namespace skid::audit
