// Which instructions can execute directly before another one of the same file.
#pragma once

#include "analysis/not_judged.h"
#include "src/audit/branches.h"
#include "src/audit/function_code.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"
#include "src/symbols/module.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid::correct {

/// Why an instruction counts as executed directly before another one, although a further one is
/// between them.
enum class Tie : std::uint8_t {
  none,        ///< no other is between them
  fused,       ///< a conditional jump, with which CPUs of Intel fuse it
  may_fuse,    ///< a conditional jump, with which CPUs of other vendors may fuse it
  late_traps,  ///< any: after MOV to SS traps wait for the end of the next instruction
};

struct Predecessor {
  std::uint64_t address = 0;     ///< link-time
  std::uint64_t leads_from = 0;  ///< of the last instruction before the successor; mostly `address`
  Tie tie = Tie::none;
  instructions::Instruction instruction;
};

struct Predecessors {
  std::vector<Predecessor> known;  ///< by address, each once
  /// What can lead there from places that are not known, one of each form: calls, jumps, RETs.
  std::vector<instructions::Instruction> unknown;
  bool anything = false;  ///< whatever it is: the code before it is not known
  bool computed = false;  ///< calls and jumps of any function through memory are among `unknown`
};

/// The control flow of a file, from its direct branches (audit::Branches) and functions. Not
/// considered: signal handlers, exception handlers directly after a call, and indirect jumps of one
/// function into the middle of another. Keeps the code of some functions.
class Flow {
 public:
  /// `loop`: the iteration of a target that skidscan built, whose labels are entered only by the
  /// preceding instruction and by direct branches; nullopt for all other files.
  Flow(const symbols::Module& module, Arch arch, std::optional<AddressRange> loop);

  /// Why no predecessors of the instruction at a link-time address can be found; none: they can.
  analysis::NotJudged problem_at(std::uint64_t address);
  /// Of the instruction at `address`, which has no problem.
  Predecessors predecessors(std::uint64_t address);
  std::optional<instructions::Instruction> instruction_at(std::uint64_t address) const;
  /// The block around `address`: instructions that are entered at the first and left at the last
  /// one; `address` alone where that is not known.
  AddressRange block_at(std::uint64_t address);

  /// Calls and jumps through memory at a fixed place, if that place is one of `bytes`.
  std::vector<std::uint64_t> branches_through(AddressRange bytes) {
    return branches().branches_through(bytes);
  }

  /// The function at `address`; `address` alone where there is none.
  AddressRange function_around(std::uint64_t address) const;

 private:
  struct Code {
    std::string function;
    AddressRange range;
    audit::FunctionCode steps;
    /// The instructions from where direct branches of the function lead into the middle of one of
    /// `steps` (past a LOCK prefix, or past data) until both decodings agree: first byte, by that
    /// of the instruction after it.
    std::multimap<std::uint64_t, std::uint64_t> inside_before;
  };
  /// RETs of a function; nullopt where it may return otherwise.
  using Returns = std::optional<std::vector<std::uint64_t>>;

  AddressRange range_of(const symbols::Function& function, std::uint64_t address) const;
  /// The code of the function at `address`. Null where there is no function, or one that is too
  /// large.
  const Code* code_at(std::uint64_t address);
  /// The code of the function before the one that begins at `function`.
  const Code* code_before(std::uint64_t function);
  const audit::Branches& branches();
  bool is_labelled(std::uint64_t address);
  /// The preceding instruction in the code, whether or not it falls through; the last one of the
  /// preceding function where only NOPs are between the two.
  std::optional<std::uint64_t> address_before(const Code& code, std::size_t index);
  /// The same of every decoding that can lead there; empty where it is not known.
  std::vector<std::uint64_t> all_before(const Code& code, std::size_t index);
  void decode_inside(Code& code);
  /// Whether the instructions before the one at `index` can be executed up to it.
  bool runs_into(const Code& code, std::size_t index);
  bool only_nops(AddressRange range) const;
  bool falls_into(const Code& code, std::size_t index);
  const Returns& returns_of(std::uint64_t function);
  Returns find_returns(std::uint64_t function);

  void add(std::uint64_t address, Predecessors& predecessors);
  void add_returns_to(std::uint64_t call, Predecessors& predecessors);
  void add_preceding(const Code& code, std::size_t index, Predecessors& predecessors);
  void add_computed(const Code& code, std::size_t index, Predecessors& predecessors);

  const symbols::Module& module_;
  Arch arch_;
  std::optional<AddressRange> loop_;
  std::vector<std::uint64_t> starts_;  ///< of functions, ascending
  std::optional<audit::Branches> branches_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Code> codes_;  ///< by their ranges
  std::size_t kept_ = 0;                                           ///< instructions in them
  std::uint64_t crowded_by_ = 0;  ///< the function at hand when they were last forgotten
  std::map<std::uint64_t, Returns> returns_;
};

}  // namespace skid::correct
