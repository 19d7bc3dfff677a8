// Which instructions can execute directly before another one of the same file.
#pragma once

#include "analysis/not_judged.h"
#include "src/code/file_code.h"
#include "src/code/function_code.h"
#include "src/instructions/instruction.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace skid {
struct AddressRange;
}  // namespace skid

namespace skid::code {
class CodeBudget;
}  // namespace skid::code

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

namespace skid::code {

/// Why an instruction counts as executed directly before another one, although a third one is
/// between them.
enum class Tie : std::uint8_t {
  none,        ///< no other instruction is between them
  fused,       ///< Intel's CPUs fuse it with the conditional jump between them
  may_fuse,    ///< CPUs of other vendors may fuse it with the conditional jump between them
  late_traps,  ///< it is MOV to SS, after which traps wait for the end of the next instruction
};

struct Predecessor {
  std::uint64_t address = 0;  ///< link-time
  /// The address of the last instruction before the successor; equal to `address` without a tie.
  std::uint64_t leads_from = 0;
  Tie tie = Tie::none;
  instructions::Instruction instruction;
};

struct Predecessors {
  std::vector<Predecessor> known;  ///< ascending addresses, each once
  /// Further predecessors, which lead to every instruction of the function; null: none.
  std::shared_ptr<const std::vector<Predecessor>> indirect_jumps;
  /// What can lead to the instruction from places that are not known, one of each form: calls,
  /// jumps, RETs.
  std::vector<instructions::Instruction> unknown;
  bool anything = false;  ///< any instruction can precede it: the code before it is not known

  /// Calls `visit(predecessor)` for all predecessors that are known.
  void for_each(const auto& visit) const {
    std::for_each(known.begin(), known.end(), visit);
    if (indirect_jumps) std::for_each(indirect_jumps->begin(), indirect_jumps->end(), visit);
  }
};

/// The control flow of a file of x86-64, from its direct branches (Branches) and functions. It does
/// not consider signal handlers, exception handlers directly after a call, and indirect jumps of
/// one function into the middle of another. It keeps the code of some functions.
class ControlFlow {
 public:
  /// If more known instructions lead to a place, unknown ones count as leading there, too.
  static constexpr std::size_t kMostPredecessors = std::size_t{1} << 16;

  /// `loop`, `budget`: see FileCode.
  ControlFlow(const symbols::Module& module, std::optional<AddressRange> loop, CodeBudget& budget);

  /// Why no predecessors of the instruction at a link-time address can be found; NotJudged::none:
  /// they can be found.
  analysis::NotJudged problem_at(std::uint64_t address);
  /// Returns the predecessors of the instruction at `address`, for which problem_at() returns none.
  Predecessors predecessors(std::uint64_t address);
  std::optional<instructions::Instruction> instruction_at(std::uint64_t address) const;

  /// Returns the code of the file. If it is_cut(), predecessors may be missing.
  FileCode& file() { return file_; }

 private:
  /// A function, with what is computed from its code once.
  struct Code {
    std::shared_ptr<const Function> function;
    Paths paths;
    /// A second decoding, from where direct branches of the function lead into the middle of its
    /// instructions (past a LOCK prefix, or past data), until both decodings agree. Each entry is
    /// the address after an instruction, and the instruction's own address. Ascending.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> inside_before;
    /// For each instruction, whether control can run into it from the instructions before it.
    std::vector<bool> runs_into;
    std::shared_ptr<const std::vector<Predecessor>> indirect_jumps;  ///< null: not yet found

    const FunctionCode& steps() const { return function->code; }
  };
  using CodePointer = std::shared_ptr<Code>;
  /// The addresses of the RETs of a function; nullopt: it may return in another way.
  using Returns = std::optional<std::vector<std::uint64_t>>;

  /// Returns the code of the function at `address`; null: no function is there, or it is not
  /// decoded.
  CodePointer code_at(std::uint64_t address);
  /// Returns the code of the function before the one that begins at `function`; null: none.
  CodePointer code_before(std::uint64_t function);
  /// Returns the address of the preceding instruction in the code, whether or not it falls through.
  /// For the first instruction of a function, that is the last one of the preceding function, if
  /// only NOPs are between the two. nullopt: it is not known.
  std::optional<std::uint64_t> address_before(const Code& code, std::size_t index);
  /// Returns the addresses of the preceding instructions in all decodings that can lead to an
  /// instruction; empty: they are not known.
  std::vector<std::uint64_t> all_before(const Code& code, std::size_t index);
  void decode_inside(Code& code);
  void find_runs(Code& code);
  void find_indirect_jumps(Code& code);
  bool only_nops(AddressRange range) const;
  const Returns& returns_of(std::uint64_t function);
  Returns find_returns(std::uint64_t function);

  void add(std::uint64_t address, Predecessors& predecessors);
  void add_returns_to(std::uint64_t call, Predecessors& predecessors);
  void add_preceding(const Code& code, std::size_t index, Predecessors& predecessors);
  void add_computed(Code& code, std::size_t index, Predecessors& predecessors);

  FileCode file_;
  std::vector<std::uint64_t> starts_;  ///< first addresses of functions, ascending
  std::map<std::pair<std::uint64_t, std::uint64_t>, CodePointer> codes_;  ///< code by its range
  std::size_t kept_ = 0;  ///< number of instructions in `codes_`
  std::map<std::uint64_t, Returns> returns_;
};

}  // namespace skid::code
