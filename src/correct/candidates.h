// The instructions that can have caused the event of a sample which skidded by a constant.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace skid {
struct AddressRange;
}  // namespace skid

namespace skid::code {
class ControlFlow;
struct Predecessor;
}  // namespace skid::code

namespace skid::events {
struct Cause;
}  // namespace skid::events

namespace skid::instructions {
struct Instruction;
}  // namespace skid::instructions

namespace skid::correct {

/// What is known about the instructions that can have caused an event.
struct Suspicion {
  unsigned skid = 1;  ///< instructions, 1 to kLongestSkid
  /// The causes of an event of the core PMU. Empty: every instruction can have caused it.
  std::span<const events::Cause> causes = {};
  bool is_breakpoint = false;
  // Only for breakpoints on data:
  bool writes_only = false;
  std::uint64_t watched = 0;        ///< link-time address of the first watched byte, modulo 2^64
  std::uint64_t bias = 0;           ///< address in the process less the link-time address
  std::uint64_t length = 0;         ///< watched bytes
  bool stack_is_elsewhere = false;  ///< the watched bytes are data of a mapped file
  /// Link-time addresses that are not writable. Empty if the watched bytes are among them, or if
  /// processes have the file at other addresses than its own.
  std::span<const AddressRange> read_only = {};
  bool fuses_as_intel = false;  ///< the CPU fuses no other pairs than instructions::fuses()
  /// Conditional jumps that are not fused with the instruction before them: traps of that
  /// instruction are at the jump.
  const std::set<std::uint64_t>* unfused = nullptr;  ///< null: none

  /// Whether an instruction can have caused the event.
  bool allows(const instructions::Instruction& instruction) const;
  /// Whether a predecessor can be the instruction that was executed directly before, on this CPU
  /// and for this event.
  bool counts(const code::Predecessor& one) const;
};

struct Candidate {
  std::uint64_t address = 0;  ///< link-time
  /// Predecessor::leads_from of the last step of each path to the sample, ascending.
  std::set<std::uint64_t> leads_from;
};

struct Candidates {
  std::vector<Candidate> known;  ///< ascending addresses
  bool unknown = false;          ///< an instruction that is not known can have caused it, too
  bool sampled_allowed = false;  ///< the sampled instruction itself can cause the event

  bool none() const noexcept { return known.empty() && !unknown; }
};

/// Returns the candidates for samples at `address`, for which ControlFlow::problem_at() returns
/// none. An instruction that is executed in parts (REP strings, gathers) is a candidate for its own
/// samples: at skid 1 it is the next instruction until its last part.
Candidates candidates_of(code::ControlFlow& flow, std::uint64_t address,
                         const Suspicion& suspicion);

}  // namespace skid::correct
