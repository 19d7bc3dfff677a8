// An instruction as Zydis decodes it, for the files of this folder.
#pragma once

#include "src/instructions/category.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <Zydis/Zydis.h>

namespace skid::instructions {

struct MemoryOperand;

inline constexpr ZydisMachineMode kMode = ZYDIS_MACHINE_MODE_LONG_64;

/// An instruction and its operands as Zydis decoded them.
struct ZydisInstruction {
  ZydisDecodedInstruction instruction = {};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands = {};

  ZydisMnemonic mnemonic() const noexcept { return instruction.mnemonic; }
  /// Whether its mnemonic is one of these.
  bool is(std::same_as<ZydisMnemonic> auto... mnemonics) const noexcept {
    return ((instruction.mnemonic == mnemonics) || ...);
  }
  /// Whether its category is one of these.
  bool is_of(std::same_as<ZydisInstructionCategory> auto... categories) const noexcept {
    return ((instruction.meta.category == categories) || ...);
  }
  /// Returns all operands, including hidden ones.
  std::span<const ZydisDecodedOperand> all_operands() const noexcept {
    return std::span(operands).first(instruction.operand_count);
  }
  std::span<const ZydisDecodedOperand> visible_operands() const noexcept {
    return std::span(operands).first(instruction.operand_count_visible);
  }
};

/// Decodes the first instruction of `code`; nullopt if it does not decode.
std::optional<ZydisInstruction> decode(std::span<const std::byte> code);

/// Returns the number of a 64-bit register in AddressFormula; nullopt for others.
std::optional<std::uint8_t> register_number(ZydisRegister reg);

/// Implements Instruction::enters_system.
bool enters_system(const ZydisInstruction& decoded);

/// Returns what PUSH, POP, near CALL, near RET and the like add to RSP, in bytes modulo 2^64;
/// nullopt: another instruction.
std::optional<std::uint64_t> added_to_stack_pointer(const ZydisInstruction& decoded);

/// Returns the categories of an instruction. `memory`: its memory operands.
Categories categories_of(const ZydisInstruction& decoded, std::span<const MemoryOperand> memory);

}  // namespace skid::instructions
