// Decoded instructions of x86-64 or aarch64: length, memory operands, categories, successors. Only
// this folder uses Zydis and decodes A64 instructions.
#pragma once

#include "src/instructions/category.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::instructions {

/// The access at the address that an operand gives. An access that depends on a mask, a count or a
/// comparison counts as done.
enum class Access {
  none,  ///< no load or store: LEA, NOP, prefetches, flushes, INVLPG, UD1; PRFM
  read,
  write,
  read_write,
};

/// How an operand of x86-64 addresses memory: `displacement`, plus a base register, plus an index
/// register times `scale`, modulo 2^64. The registers are those before the instruction.
struct AddressFormula {
  /// Numbers of general-purpose registers of 64 bits, as instructions encode them: 0 RAX, 1 RCX,
  /// 2 RDX, 3 RBX, 4 RSP, 5 RBP, 6 RSI, 7 RDI, 8 R8 to 15 R15.
  std::optional<std::uint8_t> base = {}, index = {};
  std::uint8_t scale = 1;
  bool from_instruction = false;   ///< plus the address of the instruction's first byte
  std::uint64_t displacement = 0;  ///< from_instruction: the instruction's length included
  std::uint64_t bytes = 0;         ///< size of the access; at least 1

  friend bool operator==(const AddressFormula&, const AddressFormula&) = default;
};

/// Registers as AddressFormula has them; RSP, and those of strings.
inline constexpr std::uint8_t kStackPointer = 4, kRsi = 6, kRdi = 7;

/// An access to memory by an instruction.
struct MemoryOperand {
  Access access = Access::none;
  /// The operand is not written in the assembly: the stack of PUSH, POP, CALL and RET, the strings
  /// of MOVS and similar ones, the fixed register operands of XLAT, LEAVE, MASKMOVDQU, MOVDIR64B
  /// and CLZERO.
  bool implicit = false;
  /// The operand has many addresses: gathers, scatters.
  bool vector_of_addresses = false;
  /// A mask or a condition decides whether the access is done.
  bool is_conditional = false;
  /// The access is at the stack pointer, and not written in the assembly: PUSH, POP, CALL and RET.
  bool on_stack = false;
  bool in_segment = false;  ///< the address is relative to FS or GS
  /// How the address is computed from registers. nullopt if it uses other than general-purpose
  /// registers (FS, GS), if the register of a bit test may select any bit, if the size depends on
  /// the CPU, and on other architectures.
  std::optional<AddressFormula> formula = {};

  friend bool operator==(const MemoryOperand&, const MemoryOperand&) = default;
};

/// Where control goes from an instruction, faults and interrupts aside.
enum class Flow : std::uint8_t {
  next,           ///< control goes to the next instruction
  conditional,    ///< control goes to the next instruction or to `target`
  jump,           ///< control goes to `target`
  indirect_jump,  ///< control goes to an address in a register or in memory
  call,           ///< control goes to the callee, and back to the next instruction if it returns
  leaves,         ///< returns, traps and undecoded bytes: successor unknown
};

constexpr bool falls_through(Flow flow) {
  return flow == Flow::next || flow == Flow::conditional;
}

/// Length of the longest instruction, bytes.
inline constexpr std::uint64_t kLongestInstruction = 15;

/// The part that an instruction can have in a macro-fused pair, which is one operation from the
/// decoder on (Intel's Optimization Reference Manual, "Macro-Fusion", Sandy Bridge and later).
enum class Fusion : std::uint8_t {
  none,
  before_any,      ///< TEST, AND: fuses with any Jcc
  before_carry,    ///< CMP, ADD, SUB: with Jcc on carry, zero, and less or greater
  before_order,    ///< INC, DEC: with Jcc on zero, and less or greater
  after_by_carry,  ///< JB, JAE, JBE, JA
  after_by_order,  ///< JE, JNE, JL, JGE, JLE, JG
  after_by_other,  ///< JO, JS, JP and their opposites
};

/// A decoded instruction.
struct Instruction {
  unsigned length = 0;  ///< bytes, 1 to 15; 4 on aarch64
  /// Memory operands in the order of Intel's assembly, then the implicit ones. At most two for
  /// current instructions.
  std::vector<MemoryOperand> memory;
  Categories categories;  ///< never empty
  /// Target of a direct jump or call; for XBEGIN that of an abort.
  std::optional<std::uint64_t> target;
  /// aarch64: where the data is that a load at a distance from the instruction accesses.
  std::optional<std::uint64_t> literal;
  Flow flow = Flow::next;
  Fusion fusion = Fusion::none;
  /// Some CPU fuses it with a following conditional jump, whatever its operands are: instructions
  /// that are the first of a Fusion, OR and XOR (AMD's "Software Optimization Guide for the AMD
  /// Zen4 Microarchitecture", 57647, "Branch Fusion").
  bool may_fuse = false;
  /// It is a string instruction with a REP prefix, or one of aarch64 that copies or fills memory:
  /// traps and interrupts can occur between its repetitions, with the same instruction as the next
  /// one.
  bool repeats = false;
  /// It is MOV to SS: debug exceptions are delayed until after the next instruction.
  bool delays_traps = false;
  /// It enters or leaves the system without a branch within the program: SYSCALL, ENCLU, VMCALL.
  /// The entered code may continue elsewhere.
  bool enters_system = false;
  /// It writes to the top of the stack, and is not a call: a following RET jumps to the written
  /// address.
  bool sets_return = false;
  /// It is SYSCALL or SYSENTER: the program may end there, or continue in two processes.
  bool calls_kernel = false;
};

/// Whether an instruction is executed in parts, between which it is the next one, too: strings with
/// REP, gathers and scatters.
inline bool is_in_parts(const Instruction& instruction) {
  return instruction.repeats ||
         std::ranges::any_of(instruction.memory, &MemoryOperand::vector_of_addresses);
}

/// Whether two neighbours are fused, the first being TEST, CMP, AND, ADD, SUB, INC or DEC and the
/// second a conditional jump that it fuses with. Pairs across cache lines, and CPUs that fuse fewer
/// pairs, are not considered.
bool fuses(Fusion first, Fusion second);

/// Whether an instruction is the second of a pair if a suitable one precedes it.
bool can_be_second(Fusion fusion);

/// Decodes the first instruction in `code`, whose first byte is at `address`. nullopt if
/// it does not decode, or is truncated by the end of `code`.
///
/// x86-64: at most 15 bytes of `code` are decoded, as the processor does. The decoding is Intel's
/// where AMD's differs (near branches with an operand-size prefix). Operands and lengths follow
/// Intel's Software Developer's Manual, volume 2; docs/instructions.md lists the corrections.
///
/// aarch64: by the encoding groups of the Arm Architecture Reference Manual (DDI 0487, "A64
/// Instruction Set Encoding"). Loads, stores and branch targets are decoded; all other
/// instructions are Category::other. Not every unallocated word within these groups is recognized:
/// it may be classified like its neighbours, although no CPU executes it. Only UDF and the
/// unallocated groups do not decode.
std::optional<Instruction> classify(Arch arch, std::span<const std::byte> code,
                                    std::uint64_t address);

/// Implements classify() for aarch64, in aarch64.cpp.
std::optional<Instruction> classify_aarch64(std::span<const std::byte> code, std::uint64_t address);

/// Returns how many bytes to step over that do not decode: 1 on x86-64, 4 on aarch64. All
/// instructions are aligned to this number.
unsigned step_without_instruction(Arch arch);

/// Decodes `code`, whose first byte is at `address`, one instruction after the other: calls
/// `visit(address, instruction)`, with nullopt for bytes that do not decode and are stepped over.
template <typename Visit>
void for_each_instruction(Arch arch, std::span<const std::byte> code, std::uint64_t address,
                          Visit visit) {
  while (!code.empty()) {
    const std::optional<Instruction> instruction = classify(arch, code, address);
    visit(address, instruction);
    const std::size_t step = instruction ? instruction->length : step_without_instruction(arch);
    code = code.subspan(std::min(step, code.size()));
    address += step;
  }
}

/// Returns the addresses that for_each_instruction() visits.
std::vector<std::uint64_t> starts_in(Arch arch, std::span<const std::byte> code,
                                     std::uint64_t address);

}  // namespace skid::instructions
