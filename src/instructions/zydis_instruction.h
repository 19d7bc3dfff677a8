// An instruction as Zydis decodes it, for the files of this folder.
#pragma once

#include "src/instructions/category.h"

#include <array>
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

/// Returns the categories of an instruction. `memory`: its memory operands.
Categories categories_of(const ZydisInstruction& decoded, std::span<const MemoryOperand> memory);

}  // namespace skid::instructions
