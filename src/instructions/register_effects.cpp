#include "src/instructions/register_effects.h"

#include "src/instructions/zydis_instruction.h"

#include <algorithm>
#include <bit>

#include <Zydis/Zydis.h>

namespace skid::instructions {
namespace {

constexpr std::uint8_t kRax = 0, kRcx = 1, kRsp = 4, kRbp = 5, kR11 = 11;
constexpr std::uint8_t kHalfWidth = 32, kFullWidth = 64;  // bits

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

/// Returns the number of the general-purpose register of which an operand is all or the low bits;
/// nullopt: another operand.
std::optional<std::uint8_t> number_of(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return std::nullopt;
  const ZydisRegister reg = operand.reg.value;
  if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH) return std::nullopt;
  return register_number(ZydisRegisterGetLargestEnclosing(kMode, reg));
}

/// Implements RegisterEffects::computed for an instruction that has a source and writes
/// `computed.of`, whose width is `computed.bits`.
std::optional<RegisterEffects::Computed> computed_of_source(const ZydisInstruction& decoded,
                                                            RegisterEffects::Computed computed) {
  const ZydisDecodedOperand& source = decoded.visible_operands()[1];
  const auto number = number_of(source);
  if (decoded.is(ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_MOVZX, ZYDIS_MNEMONIC_MOVSX,
                 ZYDIS_MNEMONIC_MOVSXD)) {
    if (!number) return std::nullopt;
    computed.from = *number;
    computed.bits = std::min(computed.bits, static_cast<std::uint8_t>(source.size));
    computed.repeats_sign = decoded.is(ZYDIS_MNEMONIC_MOVSX, ZYDIS_MNEMONIC_MOVSXD);
    return computed;
  }
  const bool is_constant = source.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  if (decoded.is(ZYDIS_MNEMONIC_AND) && is_constant) {
    const std::uint64_t mask = source.imm.value.u & (UINT64_MAX >> (kFullWidth - computed.bits));
    computed.bits = static_cast<std::uint8_t>(std::bit_width(mask));
    const bool is_low = mask != 0 && std::has_single_bit(mask + 1);
    return is_low ? std::optional(computed) : std::nullopt;
  }
  if (decoded.is(ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_SUB) && (is_constant || number)) {
    const bool adds = decoded.is(ZYDIS_MNEMONIC_ADD);
    if (is_constant) {
      computed.addend = adds ? source.imm.value.u : 0 - source.imm.value.u;
    } else {
      computed.second = *number;
      computed.scale = adds ? 1 : -1;
    }
    return computed;
  }
  if (decoded.is(ZYDIS_MNEMONIC_LEA) && decoded.instruction.address_width == kFullWidth) {
    const auto base = register_number(source.mem.base), index = register_number(source.mem.index);
    if (!base || (!index && source.mem.index != ZYDIS_REGISTER_NONE)) return std::nullopt;
    computed.from = *base;
    computed.second = index.value_or(0);
    computed.scale = index ? static_cast<std::int8_t>(source.mem.scale) : 0;
    computed.addend = static_cast<std::uint64_t>(source.mem.disp.value);
    return computed;
  }
  return std::nullopt;
}

/// Implements RegisterEffects::computed.
std::optional<RegisterEffects::Computed> computed_by(const ZydisInstruction& decoded) {
  const auto operands = decoded.visible_operands();
  if (const auto added = added_to_stack_pointer(decoded)) {
    const bool loads = decoded.is(ZYDIS_MNEMONIC_POP) && number_of(operands[0]) == kRsp;
    if (loads) return std::nullopt;
    return {{.of = kRsp, .from = kRsp, .addend = *added}};
  }
  constexpr std::uint64_t kSlot = 8;
  if (decoded.is(ZYDIS_MNEMONIC_LEAVE) && decoded.instruction.operand_width == kFullWidth) {
    return {{.of = kRsp, .from = kRbp, .addend = kSlot}};
  }
  if (decoded.is(ZYDIS_MNEMONIC_CDQE)) {
    return {{.of = kRax, .from = kRax, .bits = kHalfWidth, .repeats_sign = true}};
  }
  const auto number = operands.empty() ? std::nullopt : number_of(operands[0]);
  // Shorter operands leave bits of the register as they were.
  if (!number || operands[0].size < kHalfWidth) return std::nullopt;
  RegisterEffects::Computed computed{
      .of = *number, .from = *number, .bits = static_cast<std::uint8_t>(operands[0].size)};
  if (decoded.is(ZYDIS_MNEMONIC_INC, ZYDIS_MNEMONIC_DEC)) {
    computed.addend = decoded.is(ZYDIS_MNEMONIC_INC) ? 1 : UINT64_MAX;
    return computed;
  }
  return operands.size() == 2 ? computed_of_source(decoded, computed) : std::nullopt;
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
                         .computed = computed_by(*decoded),
                         .string_step = string_step_of(*decoded)};
}

}  // namespace skid::instructions
