#include "src/instructions/instruction.h"

#include "src/instructions/zydis_instruction.h"

namespace skid::instructions {
namespace {

Access access_of(ZydisOperandActions actions) {
  const bool reads = (actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
  const bool writes = (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  if (reads && writes) return Access::read_write;
  if (writes) return Access::write;
  return reads ? Access::read : Access::none;
}

/// Instructions whose operand Zydis calls read, though it is an address and nothing else: what they
/// do to caches and TLBs neither loads nor stores.
bool only_takes_the_address(const ZydisInstruction& decoded) {
  if (is_multibyte_nop(decoded)) return true;
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_CLDEMOTE:
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
    case ZYDIS_MNEMONIC_CLWB:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_PREFETCHWT1:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_VGATHERPF0DPD:
    case ZYDIS_MNEMONIC_VGATHERPF0DPS:
    case ZYDIS_MNEMONIC_VGATHERPF0QPD:
    case ZYDIS_MNEMONIC_VGATHERPF0QPS:
    case ZYDIS_MNEMONIC_VGATHERPF1DPD:
    case ZYDIS_MNEMONIC_VGATHERPF1DPS:
    case ZYDIS_MNEMONIC_VGATHERPF1QPD:
    case ZYDIS_MNEMONIC_VGATHERPF1QPS:
    case ZYDIS_MNEMONIC_VSCATTERPF0DPD:
    case ZYDIS_MNEMONIC_VSCATTERPF0DPS:
    case ZYDIS_MNEMONIC_VSCATTERPF0QPD:
    case ZYDIS_MNEMONIC_VSCATTERPF0QPS:
    case ZYDIS_MNEMONIC_VSCATTERPF1DPD:
    case ZYDIS_MNEMONIC_VSCATTERPF1DPS:
    case ZYDIS_MNEMONIC_VSCATTERPF1QPD:
    case ZYDIS_MNEMONIC_VSCATTERPF1QPS:
      return true;
    default:
      return decoded.instruction.meta.category == ZYDIS_CATEGORY_PREFETCH;
  }
}

/// Instructions that write a line whose address a register holds, which Zydis has no operand for.
bool writes_a_line_by_register(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_CLZERO || mnemonic == ZYDIS_MNEMONIC_ENQCMD ||
         mnemonic == ZYDIS_MNEMONIC_ENQCMDS;
}

std::vector<MemoryOperand> memory_of(const ZydisInstruction& decoded) {
  const bool address_only = only_takes_the_address(decoded);
  std::vector<MemoryOperand> memory;
  for (const ZydisDecodedOperand& operand : decoded.all_operands()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    MemoryOperand found;
    found.access = address_only ? Access::none : access_of(operand.actions);
    found.implicit = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    found.vector_of_addresses = operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB;
    memory.push_back(found);
  }
  if (writes_a_line_by_register(decoded.mnemonic())) {
    memory.push_back({.access = Access::write, .implicit = true});
  }
  return memory;
}

std::optional<std::uint64_t> target_of(const ZydisInstruction& decoded, std::uint64_t address) {
  if (decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE) return std::nullopt;
  for (const ZydisDecodedOperand& operand : decoded.visible_operands()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || operand.imm.is_relative == ZYAN_FALSE) {
      continue;
    }
    return address + decoded.instruction.length + operand.imm.value.u;  // wraps as the CPU does
  }
  return std::nullopt;
}

}  // namespace

std::optional<Instruction> classify(std::span<const std::byte> code, std::uint64_t address) {
  ZydisDecoder decoder;
  if (ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) {
    return std::nullopt;
  }
  ZydisInstruction decoded;
  if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &decoded.instruction,
                                         decoded.operands.data()))) {
    return std::nullopt;
  }
  Instruction result;
  result.length = decoded.instruction.length;
  result.memory = memory_of(decoded);
  result.categories = categories_of(decoded, result.memory);
  result.target = target_of(decoded, address);
  return result;
}

}  // namespace skid::instructions
