// What Zydis decoded, handed from one file of this folder to the other.
#pragma once

#include "src/instructions/category.h"
#include "src/instructions/instruction.h"

#include <array>
#include <span>
#include <vector>

#include <Zydis/Zydis.h>

namespace skid::instructions {

struct ZydisInstruction {
  ZydisDecodedInstruction instruction = {};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands = {};

  ZydisMnemonic mnemonic() const noexcept { return instruction.mnemonic; }
  /// All operands, the hidden ones too.
  std::span<const ZydisDecodedOperand> all_operands() const noexcept {
    return std::span(operands).first(instruction.operand_count);
  }
  std::span<const ZydisDecodedOperand> visible_operands() const noexcept {
    return std::span(operands).first(instruction.operand_count_visible);
  }
};

bool is_multibyte_nop(const ZydisInstruction& decoded);

/// `memory`: the findings on the same instruction's operands.
Categories categories_of(const ZydisInstruction& decoded, std::span<const MemoryOperand> memory);

}  // namespace skid::instructions
