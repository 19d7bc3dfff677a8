// What Zydis decoded, handed from one file of this folder to the other.
#pragma once

#include "src/instructions/instruction.h"

#include <concepts>

#include <Zydis/Zydis.h>

namespace skid::instructions {

inline constexpr ZydisMachineMode kMode = ZYDIS_MACHINE_MODE_LONG_64;

struct ZydisInstruction {
  ZydisDecodedInstruction instruction = {};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands = {};

  ZydisMnemonic mnemonic() const noexcept { return instruction.mnemonic; }
  /// Whether its mnemonic is one of these; its category.
  bool is(std::same_as<ZydisMnemonic> auto... mnemonics) const noexcept {
    return ((instruction.mnemonic == mnemonics) || ...);
  }
  bool is_of(std::same_as<ZydisInstructionCategory> auto... categories) const noexcept {
    return ((instruction.meta.category == categories) || ...);
  }
  /// All operands, the hidden ones too.
  std::span<const ZydisDecodedOperand> all_operands() const noexcept {
    return std::span(operands).first(instruction.operand_count);
  }
  std::span<const ZydisDecodedOperand> visible_operands() const noexcept {
    return std::span(operands).first(instruction.operand_count_visible);
  }
};

/// `memory`: the findings on the same instruction's operands.
Categories categories_of(const ZydisInstruction& decoded, std::span<const MemoryOperand> memory);

}  // namespace skid::instructions
