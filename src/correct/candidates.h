// Which instructions can have caused the event of a sample that skidded by a constant.
#pragma once

#include "src/correct/flow.h"
#include "src/events/event.h"
#include "src/instructions/instruction.h"

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace skid::correct {

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
  std::uint64_t watched = 0;        ///< link-time address of the file at hand, modulo 2^64
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
