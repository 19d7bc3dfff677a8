// The data addresses that a sample can have if its IP is right, and the instructions before the IP
// that can have accessed another one.
#pragma once

#include "src/instructions/instruction.h"
#include "src/instructions/register_effects.h"
#include "src/support/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace skid::code {
class ControlFlow;
struct Predecessor;
}  // namespace skid::code

namespace skid::witness {

/// Which instruction accessed the data address of a sample, seen from the IP, and when the
/// registers of the sample were saved.
enum class Moment : std::uint8_t {
  before,     ///< the instruction at the IP, which may have been fetched there; before it
  after,      ///< the instruction at the IP; after it
  successor,  ///< the one executed before the instruction at the IP; between the two
  unrelated,  ///< the instruction at the IP; at another time
};

/// Why it is not known which addresses an instruction accesses, or whether it is at the IP.
enum class Unknown : std::uint8_t {
  none,
  no_build_id,   ///< the file may be another build, whose data is elsewhere
  no_code,       ///< the file or the instruction is not known
  overwritten,   ///< a register of the address was written between the access and the record
  not_recorded,  ///< the sample does not have a register of the address
  segment,       ///< the address is relative to FS or GS
  operand,       ///< gathers, bit tests, REP strings, states of registers
  instruction,   ///< what the instruction accesses is not in its operands: prefetches, flushes
  predecessor,   ///< not every instruction is known that can precede the sampled one
  fetch,         ///< the fault may be that of fetching another instruction of the same page
};
inline constexpr std::size_t kUnknown = static_cast<std::size_t>(Unknown::fetch) + 1;

/// For each reason, its name in JSON, and its meaning as a part of a sentence.
SKID_WORDS(Unknown, {"none", "known"}, {"no_build_id", "in files without a recorded build-id"},
           {"no_code", "in code that is not known"},
           {"overwritten", "by a register that was overwritten"},
           {"not_recorded", "by a register that was not recorded"},
           {"segment", "relative to FS or GS"},
           {"operand", "with an operand that has no single address"},
           {"instruction", "at an instruction that accesses memory without an operand"},
           {"predecessor", "after an instruction that is not known"},
           {"fetch", "on the page of the sampled code"})

/// A value that a register had at some time: the low `bits` of register `from` of the record, plus
/// `scale` times its register `second`, plus `addend`. Numbers of registers: see AddressFormula.
struct Value {
  std::uint8_t from = 0, second = 0;
  std::int8_t scale = 0;   ///< 0: no second one
  std::uint8_t bits = 64;  ///< at least 1; those above are 0
  std::uint64_t addend = 0;
  friend auto operator<=>(const Value&, const Value&) = default;
};

/// An address as instructions::AddressFormula has it, by the registers of the record.
struct Address {
  std::optional<Value> base = {}, index = {};
  std::uint8_t scale = 1;
  bool from_instruction = false;  ///< plus the IP of the sample
  std::uint64_t displacement = 0;
  std::uint64_t bytes = 0;  ///< size of the access; at least 1
};

/// The memory that an instruction accesses.
struct Accesses {
  std::vector<Address> known;
  /// Why there may be further accesses.
  Unknown unknown = Unknown::none;

  bool none() const noexcept { return known.empty() && unknown == Unknown::none; }
};

/// An instruction that may have been executed before the one at the IP.
struct Candidate {
  /// Link-time address; nullopt: one of the calls that lead to a function.
  std::optional<std::uint64_t> address;
  /// The fewest instructions from it to the one at the IP; 1: the next one.
  unsigned distance = 0;
  Accesses accesses;
};

/// The code of one file of x86-64, seen from samples. Keeps what it has read.
class FileAccesses {
 public:
  /// The longest distance of candidates, in instructions.
  static constexpr unsigned kLongest = 16;

  /// `flow` must outlive this.
  explicit FileAccesses(code::ControlFlow& flow) : flow_(flow) {}

  /// Returns the memory that the instruction which caused a sample at the link-time `address`
  /// accessed, if the IP is right. A fused pair counts as one instruction.
  Accesses of_sample(std::uint64_t address, Moment moment);

  /// Returns the memory that one predecessor of the instruction at the link-time `address`
  /// accessed, in the registers between the two.
  Accesses of_predecessor(const code::Predecessor& predecessor, std::uint64_t address);

  /// Returns the instructions that can have been executed at most kLongest instructions before the
  /// one at `address`, and access memory; the nearest first. One instruction can be there several
  /// times, with the addresses that it has on different paths. The walk is limited, by the budget,
  /// too, and ends at calls from code that is not known.
  std::vector<Candidate> before(std::uint64_t address, Moment moment);

 private:
  static constexpr std::size_t kRegisters = 16;
  /// The values of all registers at some time; nullopt: it does not follow from the record. The
  /// bits above those of a value are not known.
  using Registers = std::array<std::optional<Value>, kRegisters>;
  /// What can have been executed directly before an instruction.
  struct Predecessors {
    std::vector<std::uint64_t> known;  ///< link-time addresses
    /// Those that may be one operation with a conditional jump among `known`.
    std::vector<std::uint64_t> fused;
    std::vector<instructions::Instruction> unknown;
    bool anything;
  };
  struct Step {
    std::optional<instructions::Instruction> instruction;
    instructions::RegisterEffects effects;
    std::optional<Predecessors> predecessors;  ///< nullopt: not yet found
  };

  static Registers recorded();
  static Registers undo(const instructions::RegisterEffects& effects, Registers registers);
  /// Returns what is `wanted`, a value of a register after an instruction, as a value of a register
  /// before it; nullopt: the instruction wrote it otherwise. `wanted.second` is of the record.
  static std::optional<Value> value_before(const Value& wanted,
                                           const instructions::RegisterEffects& effects,
                                           const Registers& before);
  /// Returns the value of the record that is `wanted`, a value of a register at the time of
  /// `registers`; nullopt: it does not follow from them.
  static std::optional<Value> resolve(const Value& wanted, const Registers& registers);
  /// The values that a register had before an instruction, one for each path to it.
  struct LostValues {
    std::vector<Value> known;
    bool is_complete = true;  ///< on no path it is another value
  };
  /// Returns the values of a register that was lost, as far as they follow from others by what the
  /// instructions before the one at `address` computed. `registers`: those before the one at
  /// `address`. Neither goes into callees nor back to callers.
  LostValues lost_values(std::uint8_t number, std::uint64_t address, const Registers& registers);
  /// Adds the accesses of the instruction at `address`. `registers`: those before it; `ip`: the IP
  /// of the sample.
  void add(std::uint64_t address, const Registers& registers, std::uint64_t ip, Accesses& accesses);
  /// The same by the registers after it. Of a string instruction these show the last part.
  void add_by_registers_after(std::uint64_t address, const Registers& registers, std::uint64_t ip,
                              Accesses& accesses);
  /// Adds those of calls, jumps and RETs from code that is not known. `registers`: those after it.
  static void add_unknown(const std::vector<instructions::Instruction>& unknown,
                          const Registers& registers, Accesses& accesses);
  /// Forgets the steps, which no caller may hold, if they are many.
  void bound_steps();
  Step& step_at(std::uint64_t address);
  const Predecessors& predecessors_of(std::uint64_t address);

  code::ControlFlow& flow_;
  std::unordered_map<std::uint64_t, Step> steps_;
};

}  // namespace skid::witness
