// What an instruction of x86-64 or aarch64 is: its length, what it does to memory, which categories
// it belongs to. With its neighbours in this folder the only code that knows Zydis, and how A64
// instructions are encoded.
#pragma once

#include "src/instructions/category.h"
#include "src/support/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::instructions {

/// What is done at the address that an operand gives. What depends on a mask, a count or a
/// comparison counts as done.
enum class Access {
  none,  ///< nothing that loads or stores: LEA, NOP, prefetches, flushes, INVLPG, UD1; PRFM
  read,
  write,
  read_write,
};

struct MemoryOperand {
  Access access = Access::none;
  /// Not written in the assembly: the stack of PUSH, POP, CALL and RET, the strings of MOVS and
  /// kin, what XLAT, LEAVE, MASKMOVDQU, MOVDIR64B and CLZERO address by a fixed register.
  bool implicit = false;
  /// One operand, many addresses: gathers, scatters.
  bool vector_of_addresses = false;

  friend bool operator==(const MemoryOperand&, const MemoryOperand&) = default;
};

/// Where control goes from an instruction, faults and interrupts aside.
enum class Flow : std::uint8_t {
  next,           ///< to the instruction behind it
  conditional,    ///< there, or to `target`
  jump,           ///< to `target`
  indirect_jump,  ///< to where a register or memory says
  call,           ///< elsewhere, and, if the callee returns, behind it
  leaves,         ///< returns, traps and what is no instruction: the code does not tell
};

/// The part that an instruction can have in a macro-fused pair, which is one operation from the
/// decoder on (Intel's Optimization Reference Manual, "Macro-Fusion", Sandy Bridge and later).
enum class Fusion : std::uint8_t {
  none,
  before_any,    ///< TEST, AND: in front of any Jcc
  before_carry,  ///< CMP, ADD, SUB: in front of Jcc that ask for carry, zero, and less or greater
  before_order,  ///< INC, DEC: in front of Jcc that ask for zero, and less or greater
  behind_by_carry,  ///< JB, JAE, JBE, JA
  behind_by_order,  ///< JE, JNE, JL, JGE, JLE, JG
  behind_by_other,  ///< JO, JS, JP and their opposites
};

struct Instruction {
  unsigned length = 0;  ///< bytes, 1 to 15; of aarch64 4
  /// In the order of Intel's assembly, the implicit ones behind. At most two for the instructions
  /// of today.
  std::vector<MemoryOperand> memory;
  Categories categories;  ///< never empty
  /// Where a direct jump or call goes when it is taken; XBEGIN when its transaction is aborted.
  std::optional<std::uint64_t> target;
  Flow flow = Flow::next;
  Fusion fusion = Fusion::none;
  /// A string instruction with a REP prefix, or one of aarch64 that copies or fills memory: traps
  /// and interrupts can come between its repetitions, and find it as the next instruction.
  bool repeats = false;
  /// MOV to SS: debug exceptions wait until the instruction behind it is done.
  bool delays_traps = false;
  /// Writes to the top of the stack, and is no call: a RET behind it goes to what was written.
  bool sets_return = false;
};

/// Whether two neighbours are fused, the first being TEST, CMP, AND, ADD, SUB, INC or DEC and the
/// second a conditional jump that it goes with. That a pair is not fused where it lies across cache
/// lines, and on CPUs that fuse fewer, is left out of account.
bool fuses(Fusion first, Fusion second);

/// Whether an instruction is the second of a pair where the right one is in front of it.
bool can_be_second(Fusion fusion);

/// Decodes the first instruction in `code`, whose first byte lies at `address`. nullopt where
/// nothing decodes, also where the instruction is cut off by the end of `code`.
///
/// x86-64: of `code` up to 15 bytes are looked at, as the processor does. The decoding is Intel's
/// where AMD's differs (near branches with an operand-size prefix). Operands and lengths follow
/// Intel's Software Developer's Manual, volume 2; docs/instructions.md tells where that took
/// corrections.
///
/// aarch64: by the encoding groups of the Arm Architecture Reference Manual (DDI 0487, "A64
/// Instruction Set Encoding"). What loads and stores data is told apart, and where branches go; all
/// else is Category::other. Within these groups not every word without a meaning is recognized:
/// such a word, which no CPU executes, may be taken for what its neighbours are. Only what is
/// permanently undefined (UDF) and the unallocated groups do not decode.
std::optional<Instruction> classify(Arch arch, std::span<const std::byte> code,
                                    std::uint64_t address);

/// Of how many bytes each what does not decode is stepped over: what all instructions are aligned
/// to.
unsigned step_without_instruction(Arch arch);

}  // namespace skid::instructions
