#include "src/instructions/register_effects.h"

#include "src/instructions/zydis_instruction.h"

#include <Zydis/Zydis.h>

namespace skid::instructions {
namespace {

constexpr std::uint8_t kRax = 0, kRcx = 1, kRsp = 4, kRbp = 5, kR11 = 11;

std::uint16_t bit_of(std::uint8_t number) {
  return static_cast<std::uint16_t>(1U << number);
}

std::uint16_t written_by(const ZydisInstruction& decoded) {
  if (decoded.is_of(ZYDIS_CATEGORY_SYSCALL)) {
    return static_cast<std::uint16_t>(bit_of(kRax) | bit_of(kRcx) | bit_of(kR11));
  }
  if (enters_system(decoded)) return UINT16_MAX;
  std::uint16_t written = 0;
  const auto add = [&](ZydisRegister reg) {
    const auto number = register_number(ZydisRegisterGetLargestEnclosing(kMode, reg));
    if (number) written = static_cast<std::uint16_t>(written | bit_of(*number));
  };
  // Zydis 4.0 lists the addresses of SCAS, CMPS, INS and OUTS as read only.
  const bool is_string =
      decoded.is_of(ZYDIS_CATEGORY_STRINGOP) || decoded.is_of(ZYDIS_CATEGORY_IOSTRINGOP);
  for (const ZydisDecodedOperand& operand : decoded.all_operands()) {
    if (is_string && operand.type == ZYDIS_OPERAND_TYPE_MEMORY) add(operand.mem.base);
    const bool is_written = operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
                            (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (is_written) add(operand.reg.value);
  }
  return written;
}

/// Whether an instruction loads RSP from memory.
bool is_pop_of_stack_pointer(const ZydisInstruction& decoded) {
  const auto operands = decoded.visible_operands();
  return decoded.is(ZYDIS_MNEMONIC_POP) && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
         ZydisRegisterGetLargestEnclosing(kMode, operands[0].reg.value) == ZYDIS_REGISTER_RSP;
}

/// Returns what an instruction adds to its first operand, which it writes; nullopt if that is not a
/// register of 64 bits, or no constant.
std::optional<std::uint64_t> added_constant(const ZydisInstruction& decoded) {
  const auto operands = decoded.visible_operands();
  if (decoded.is(ZYDIS_MNEMONIC_INC)) return 1;
  if (decoded.is(ZYDIS_MNEMONIC_DEC)) return UINT64_MAX;
  if (operands.size() < 2) return std::nullopt;
  const ZydisDecodedOperand& source = operands[1];
  if (decoded.is(ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_SUB) &&
      source.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    return decoded.is(ZYDIS_MNEMONIC_ADD) ? source.imm.value.u : 0 - source.imm.value.u;
  }
  constexpr unsigned kAddressBits = 64;
  if (decoded.is(ZYDIS_MNEMONIC_LEA) && decoded.instruction.address_width == kAddressBits &&
      source.mem.base == operands[0].reg.value && source.mem.index == ZYDIS_REGISTER_NONE) {
    return static_cast<std::uint64_t>(source.mem.disp.value);
  }
  return std::nullopt;
}

std::optional<RegisterEffects::Restored> restored_by(const ZydisInstruction& decoded) {
  if (const auto added = added_to_stack_pointer(decoded)) {
    if (is_pop_of_stack_pointer(decoded)) return std::nullopt;
    return {{kRsp, kRsp, 0 - *added}};
  }
  constexpr std::uint64_t kSlot = 8;
  constexpr unsigned kFullWidth = 64;
  if (decoded.is(ZYDIS_MNEMONIC_LEAVE)) {
    if (decoded.instruction.operand_width != kFullWidth) return std::nullopt;
    return {{kRbp, kRsp, 0 - kSlot}};
  }
  const auto operands = decoded.visible_operands();
  if (operands.empty() || operands.front().type != ZYDIS_OPERAND_TYPE_REGISTER) return std::nullopt;
  const auto number = register_number(operands.front().reg.value);
  const auto added = number ? added_constant(decoded) : std::nullopt;
  if (!added) return std::nullopt;
  return {{*number, *number, 0 - *added}};
}

std::optional<RegisterEffects::Copied> copied_by(const ZydisInstruction& decoded) {
  const auto operands = decoded.visible_operands();
  if (operands.size() < 2 || operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER) return std::nullopt;
  const ZydisDecodedOperand& source = operands[1];
  const auto to = register_number(operands[0].reg.value);
  std::optional<std::uint8_t> from;
  std::uint64_t addend = 0;
  if (decoded.is(ZYDIS_MNEMONIC_MOV) && source.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    from = register_number(source.reg.value);
  } else if (decoded.is(ZYDIS_MNEMONIC_LEA) && source.mem.index == ZYDIS_REGISTER_NONE) {
    from = register_number(source.mem.base);
    addend = static_cast<std::uint64_t>(source.mem.disp.value);
  }
  if (!to || !from || *to == *from) return std::nullopt;
  return {{*to, *from, addend}};
}

/// Implements RegisterEffects::string_step.
std::uint8_t string_step_of(const ZydisInstruction& decoded) {
  if (!decoded.is_of(ZYDIS_CATEGORY_STRINGOP)) return 0;
  constexpr unsigned kByteBits = 8;
  for (const ZydisDecodedOperand& operand : decoded.all_operands()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      return static_cast<std::uint8_t>(operand.size / kByteBits);
    }
  }
  return 0;
}

}  // namespace

std::optional<RegisterEffects> register_effects(std::span<const std::byte> code) {
  const auto decoded = decode(code);
  if (!decoded) return std::nullopt;
  return RegisterEffects{.written = written_by(*decoded),
                         .restored = restored_by(*decoded),
                         .copied = copied_by(*decoded),
                         .string_step = string_step_of(*decoded)};
}

}  // namespace skid::instructions
