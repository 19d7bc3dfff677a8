// What an x86-64 instruction is: its length, what it does to memory, which categories it belongs
// to. With its neighbours in this folder the only code that knows Zydis.
#pragma once

#include "src/instructions/category.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::instructions {

/// What is done at the address that an operand gives. What depends on a mask, a count or a
/// comparison counts as done.
enum class Access {
  none,  ///< nothing that loads or stores: LEA, NOP, prefetches, flushes, INVLPG, UD1
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

struct Instruction {
  unsigned length = 0;  ///< bytes, 1 to 15
  /// In the order of Intel's assembly, the implicit ones behind. At most two for the instructions
  /// of today.
  std::vector<MemoryOperand> memory;
  Categories categories;  ///< never empty
  /// Where a direct jump or call goes when it is taken.
  std::optional<std::uint64_t> target;
};

/// Decodes the first instruction in `code`, whose first byte lies at `address`; of `code` up to 15
/// bytes are looked at, as the processor does. The decoding is Intel's where AMD's differs (near
/// branches with an operand-size prefix). nullopt where nothing decodes, also where the instruction
/// is cut off by the end of `code`. Operands and lengths follow Intel's Software Developer's
/// Manual, volume 2; docs/instructions.md tells where that took corrections.
std::optional<Instruction> classify(std::span<const std::byte> code, std::uint64_t address);

}  // namespace skid::instructions
