// The instructions that can have caused the event of a sample which skidded by one instruction.
#pragma once

#include "src/witness/accesses.h"
#include "src/witness/judgement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

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
  /// The causes of an event of the core PMU. Empty: every instruction can have caused it.
  std::span<const events::Cause> causes = {};
  /// The bytes that a breakpoint watches, and the IP of a sample at the place. nullopt: the event
  /// is another one.
  std::optional<witness::Record> watched = {};
  bool writes_only = false;         ///< the breakpoint is one on writes
  bool stack_is_elsewhere = false;  ///< the watched bytes are data of a file
  bool fuses_as_intel = false;      ///< the CPU fuses no other pairs than instructions::fuses()
  /// Conditional jumps that are not fused with the instruction before them: traps of that
  /// instruction are at the jump.
  const std::set<std::uint64_t>* unfused = nullptr;  ///< null: none

  /// Whether an instruction can have caused the event, whatever its address.
  bool allows(const instructions::Instruction& instruction) const;
  /// Whether a predecessor can be the instruction that was executed directly before, on this CPU
  /// and for this event.
  bool counts(const code::Predecessor& one) const;
};

/// An instruction that may have caused the event.
struct Candidate {
  std::uint64_t address = 0;  ///< link-time
  /// The ways from it to the sample: by a branch at one of these link-time addresses, or without a
  /// branch. Without any of these: it is the sampled instruction.
  std::vector<std::uint64_t> branches;
  bool falls_through = false;
  witness::Accesses accesses;  ///< in the registers after it
};

/// The most candidates; if there are more, they count as unknown.
inline constexpr std::size_t kMostCandidates = 63;

/// What can have caused the event of samples at one place.
struct Candidates {
  std::vector<Candidate> known;  ///< ascending addresses
  bool unknown = false;          ///< an instruction that is not known can have caused it, too
  bool sampled_allowed = false;  ///< the sampled instruction itself can cause the event
};

/// Returns the candidates for samples at `address`, for which ControlFlow::problem_at() returns
/// none. An instruction that is executed in parts (REP strings, gathers) is a candidate for its own
/// samples: it is the next instruction until its last part. `accesses`: of the same file.
Candidates find_candidates(code::ControlFlow& flow, witness::FileAccesses& accesses,
                           std::uint64_t address, const Suspicion& suspicion);

}  // namespace skid::correct
