// Which instructions can execute directly before another one of the same file, and which of them
// can have caused the event of a sample that skidded by a constant.
#pragma once

#include "analysis/not_judged.h"
#include "src/audit/file_code.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace skid::events {
struct Cause;
}  // namespace skid::events

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

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
  /// Further ones, which lead to every instruction of the function; null: none.
  std::shared_ptr<const std::vector<Predecessor>> indirect_jumps;
  /// What can lead there from places that are not known, one of each form: calls, jumps, RETs.
  std::vector<instructions::Instruction> unknown;
  bool anything = false;  ///< whatever it is: the code before it is not known
  bool computed = false;  ///< calls and jumps of any function through memory are among `unknown`

  /// Calls `visit(predecessor)` for all that are known.
  void for_each(const auto& visit) const {
    std::for_each(known.begin(), known.end(), visit);
    if (indirect_jumps) std::for_each(indirect_jumps->begin(), indirect_jumps->end(), visit);
  }
};

/// The control flow of a file, from its direct branches (audit::Branches) and functions. Not
/// considered: signal handlers, exception handlers directly after a call, and indirect jumps of one
/// function into the middle of another. Keeps the code of some functions.
class Flow {
 public:
  /// Places that more known instructions lead to count as led to by unknown ones.
  static constexpr std::size_t kMostPredecessors = std::size_t{1} << 16;

  /// `loop` and `budget`: as of audit::FileCode.
  Flow(const symbols::Module& module, Arch arch, std::optional<AddressRange> loop,
       audit::CodeBudget& budget);

  /// Why no predecessors of the instruction at a link-time address can be found; none: they can.
  analysis::NotJudged problem_at(std::uint64_t address);
  /// Whether the budget ended, so that predecessors may be missing.
  bool is_cut() const { return file_.is_cut(); }
  /// Of the instruction at `address`, which has no problem.
  Predecessors predecessors(std::uint64_t address);
  std::optional<instructions::Instruction> instruction_at(std::uint64_t address) const;
  /// The block around `address`: instructions that are entered at the first and left at the last
  /// one; `address` alone where that is not known.
  AddressRange block_at(std::uint64_t address);

  /// Calls and jumps through memory at a fixed place, if that place is one of `bytes`.
  std::vector<std::uint64_t> branches_through(AddressRange bytes) {
    return file_.branches().branches_through(bytes);
  }

  /// The function at `address`; `address` alone where there is none.
  AddressRange function_around(std::uint64_t address) const { return file_.range_around(address); }

 private:
  /// A function, and what is found of it once.
  struct Code {
    std::shared_ptr<const audit::Function> function;
    audit::Paths paths;
    /// The instructions from where direct branches of the function lead into the middle of one of
    /// its code (past a LOCK prefix, or past data) until both decodings agree: first byte, after
    /// that of the instruction after it. Ascending.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> inside_before;
    /// Of each instruction, whether those before can be executed up to it.
    std::vector<bool> runs_into;
    std::vector<std::size_t> blocks;  ///< their first instructions, ascending
    std::shared_ptr<const std::vector<Predecessor>> indirect_jumps;  ///< null: not yet found

    const audit::FunctionCode& steps() const { return function->code; }
  };
  using CodePointer = std::shared_ptr<Code>;
  /// RETs of a function; nullopt where it may return otherwise.
  using Returns = std::optional<std::vector<std::uint64_t>>;

  /// The code of the function at `address`. Null where there is none that is decoded.
  CodePointer code_at(std::uint64_t address);
  /// The code of the function before the one that begins at `function`.
  CodePointer code_before(std::uint64_t function);
  /// The preceding instruction in the code, whether or not it falls through; the last one of the
  /// preceding function where only NOPs are between the two.
  std::optional<std::uint64_t> address_before(const Code& code, std::size_t index);
  /// The same of every decoding that can lead there; empty where it is not known.
  std::vector<std::uint64_t> all_before(const Code& code, std::size_t index);
  void decode_inside(Code& code);
  void find_runs_and_blocks(Code& code);
  void find_indirect_jumps(Code& code);
  bool only_nops(AddressRange range) const;
  const Returns& returns_of(std::uint64_t function);
  Returns find_returns(std::uint64_t function);

  void add(std::uint64_t address, Predecessors& predecessors);
  void add_returns_to(std::uint64_t call, Predecessors& predecessors);
  void add_preceding(const Code& code, std::size_t index, Predecessors& predecessors);
  void add_computed(Code& code, std::size_t index, Predecessors& predecessors);

  audit::FileCode file_;
  std::vector<std::uint64_t> starts_;  ///< of functions, ascending
  std::map<std::pair<std::uint64_t, std::uint64_t>, CodePointer> codes_;  ///< by their ranges
  std::size_t kept_ = 0;                                                  ///< instructions in them
  std::map<std::uint64_t, Returns> returns_;
};

/// The largest skid that is traced back, in instructions: beyond it the ways multiply.
inline constexpr unsigned kLongestSkid = 4;

/// What is known of an event's causes.
struct Suspicion {
  unsigned skid = 1;  ///< instructions, 1 to kLongestSkid
  /// Of an event of the core PMU. Empty: every instruction is suspect.
  std::span<const events::Cause> causes = {};
  bool is_breakpoint = false;
  // Of a breakpoint on data.
  bool writes_only = false;
  std::uint64_t watched = 0;        ///< link-time address of its file, modulo 2^64
  std::uint64_t bias = 0;           ///< to add to link-time addresses for those in the process
  std::uint64_t length = 0;         ///< bytes
  bool stack_is_elsewhere = false;  ///< the watched bytes are data of a mapped file
  /// Link-time addresses that are not writable. Set where the watched bytes are elsewhere and
  /// processes have the file at its own addresses.
  std::span<const AddressRange> read_only = {};
  bool fuses_as_intel = false;  ///< the CPU fuses no other pairs than instructions::fuses()
  /// Conditional jumps that are not fused with the instruction before: that one's traps are at the
  /// jump.
  const std::set<std::uint64_t>* unfused = nullptr;  ///< null: none
  /// Whether an instruction can have caused the event.
  bool allows(const instructions::Instruction& instruction) const;
  /// Whether it can be what was executed directly before.
  bool counts(const Predecessor& one) const;
};

struct Candidate {
  std::uint64_t address = 0;  ///< link-time
  /// Predecessor::leads_from of the last step of each way to the sample, ascending.
  std::set<std::uint64_t> leads_from;
};

struct Candidates {
  std::vector<Candidate> known;  ///< by address
  bool unknown = false;          ///< one that is not known can have caused it, too
  bool sampled_allowed = false;  ///< the sampled instruction itself is one that causes the event

  bool none() const noexcept { return known.empty() && !unknown; }
};

/// Those of samples at `address`, at which `flow` has no problem. An instruction that is executed
/// in parts (REP strings, gathers) is a candidate of its own samples: at skid 1 it is the next
/// instruction until its last part.
Candidates candidates_of(Flow& flow, std::uint64_t address, const Suspicion& suspicion);

}  // namespace skid::correct
