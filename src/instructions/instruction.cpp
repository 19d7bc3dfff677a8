#include "src/instructions/instruction.h"

#include "src/instructions/zydis_instruction.h"

#include <algorithm>
#include <string_view>

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
      return true;
    default:
      break;
  }
  // VGATHERPF0DPD and its like have the category of gathers.
  const std::string_view name = ZydisMnemonicGetString(decoded.mnemonic());
  return name.starts_with("vgatherpf") || name.starts_with("vscatterpf") ||
         decoded.instruction.meta.category == ZYDIS_CATEGORY_PREFETCH;
}

/// Instructions that write a line addressed by a register, for which Zydis has no operand.
bool writes_a_line_by_register(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_CLZERO || mnemonic == ZYDIS_MNEMONIC_ENQCMD ||
         mnemonic == ZYDIS_MNEMONIC_ENQCMDS;
}

/// Whether a mask decides which elements are loaded or stored.
bool has_mask(const ZydisInstruction& decoded) {
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
      return true;
    default:
      break;
  }
  const ZydisMaskMode mode = decoded.instruction.avx.mask.mode;
  return mode != ZYDIS_MASK_MODE_INVALID && mode != ZYDIS_MASK_MODE_DISABLED;
}

bool is_bit_test(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_BT || mnemonic == ZYDIS_MNEMONIC_BTC ||
         mnemonic == ZYDIS_MNEMONIC_BTR || mnemonic == ZYDIS_MNEMONIC_BTS;
}

/// As AddressFormula numbers it; nullopt for all others.
std::optional<std::uint8_t> number_of(ZydisRegister reg) {
  if (ZydisRegisterGetClass(reg) != ZYDIS_REGCLASS_GPR64) return std::nullopt;
  const auto number = ZydisRegisterGetId(reg);
  constexpr int kRegisters = 16;
  return number >= 0 && number < kRegisters ? std::optional(static_cast<std::uint8_t>(number))
                                            : std::nullopt;
}

bool writes(const ZydisInstruction& decoded, ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return false;
  const auto operands = decoded.all_operands();
  return std::any_of(operands.begin(), operands.end(), [&](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
           ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) == reg;
  });
}

std::optional<AddressFormula> formula_of(const ZydisInstruction& decoded,
                                         const ZydisDecodedOperand& operand) {
  const auto& memory = operand.mem;
  constexpr unsigned kAddressBits = 64;
  if (memory.type != ZYDIS_MEMOP_TYPE_MEM || decoded.instruction.address_width != kAddressBits ||
      memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS) {
    return std::nullopt;
  }
  if (is_bit_test(decoded.mnemonic())) return std::nullopt;  // a register can select any bit
  constexpr unsigned kBitsOfAByte = 8, kLargest = 512;
  // States of registers (XSAVE) have a size that depends on the CPU.
  if (operand.size == 0 || operand.size > kLargest || operand.size % kBitsOfAByte != 0) {
    return std::nullopt;
  }
  AddressFormula formula;
  formula.displacement = static_cast<std::uint64_t>(memory.disp.value);
  formula.bytes = operand.size / kBitsOfAByte;
  if (memory.base == ZYDIS_REGISTER_RIP) {
    formula.from_instruction = true;
    formula.displacement += decoded.instruction.length;
  } else if (memory.base != ZYDIS_REGISTER_NONE) {
    formula.base = number_of(memory.base);
    if (!formula.base) return std::nullopt;
  }
  if (memory.index != ZYDIS_REGISTER_NONE) {
    formula.index = number_of(memory.index);
    if (!formula.index) return std::nullopt;
    formula.scale = memory.scale;
  }
  formula.writes_registers = writes(decoded, memory.base) || writes(decoded, memory.index);
  return formula;
}

/// The bytes of an operand without registers, of an instruction at `address`.
std::optional<AddressRange> fixed_bytes(const std::optional<AddressFormula>& formula,
                                        std::uint64_t address) {
  if (!formula || formula->base || formula->index) return std::nullopt;
  const std::uint64_t begin =
      formula->displacement + (formula->from_instruction ? address : std::uint64_t{0});
  const std::uint64_t end = begin + formula->bytes;
  if (end < begin) return std::nullopt;
  return AddressRange{begin, end};
}

std::vector<MemoryOperand> memory_of(const ZydisInstruction& decoded, std::uint64_t address) {
  const bool address_only = only_takes_the_address(decoded);
  std::vector<MemoryOperand> memory;
  for (const ZydisDecodedOperand& operand : decoded.all_operands()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    MemoryOperand found;
    found.access = address_only ? Access::none : access_of(operand.actions);
    found.implicit = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    found.vector_of_addresses = operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB;
    constexpr ZydisOperandActions kConditional =
        ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE;
    found.is_conditional = (operand.actions & kConditional) != 0 || has_mask(decoded);
    found.on_stack = found.implicit && operand.mem.base == ZYDIS_REGISTER_RSP;
    found.formula = formula_of(decoded, operand);
    found.fixed = fixed_bytes(found.formula, address);
    memory.push_back(found);
  }
  if (writes_a_line_by_register(decoded.mnemonic())) {
    memory.push_back({.access = Access::write, .implicit = true});
  }
  return memory;
}

std::optional<std::uint64_t> target_of(const ZydisInstruction& decoded, std::uint64_t address) {
  // XBEGIN is no branch to Zydis, but goes to its operand when the transaction is aborted.
  if (decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE &&
      decoded.mnemonic() != ZYDIS_MNEMONIC_XBEGIN) {
    return std::nullopt;
  }
  for (const ZydisDecodedOperand& operand : decoded.visible_operands()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || operand.imm.is_relative == ZYAN_FALSE) {
      continue;
    }
    return address + decoded.instruction.length + operand.imm.value.u;  // wraps as the CPU does
  }
  return std::nullopt;
}

Flow flow_of(const ZydisInstruction& decoded, bool has_target) {
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_XABORT:
      return Flow::leaves;
    default:
      break;
  }
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return Flow::call;
    case ZYDIS_CATEGORY_COND_BR:
      return has_target ? Flow::conditional : Flow::next;  // XEND and XTEST have none
    case ZYDIS_CATEGORY_UNCOND_BR:
      return has_target ? Flow::jump : Flow::indirect_jump;
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSRET:
      return Flow::leaves;
    default:
      return has_target ? Flow::conditional : Flow::next;  // XBEGIN goes there when it is aborted
  }
}

/// Whether memory is the destination, or is compared with a number: such instructions are not
/// fused.
bool keeps_from_fusion(const ZydisInstruction& decoded, std::span<const MemoryOperand> memory) {
  if (memory.empty()) return false;
  for (const MemoryOperand& operand : memory) {
    if (operand.access != Access::read) return true;
  }
  for (const ZydisDecodedOperand& operand : decoded.visible_operands()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return true;
  }
  return false;
}

Fusion fusion_of(const ZydisInstruction& decoded, std::span<const MemoryOperand> memory) {
  const auto unless_kept = [&](Fusion fusion) {
    return keeps_from_fusion(decoded, memory) ? Fusion::none : fusion;
  };
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_TEST:
      return unless_kept(Fusion::before_any);
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_SUB:
      return unless_kept(Fusion::before_carry);
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_INC:
      return unless_kept(Fusion::before_order);
    case ZYDIS_MNEMONIC_JB:
    case ZYDIS_MNEMONIC_JBE:
    case ZYDIS_MNEMONIC_JNB:
    case ZYDIS_MNEMONIC_JNBE:
      return Fusion::after_by_carry;
    case ZYDIS_MNEMONIC_JL:
    case ZYDIS_MNEMONIC_JLE:
    case ZYDIS_MNEMONIC_JNL:
    case ZYDIS_MNEMONIC_JNLE:
    case ZYDIS_MNEMONIC_JNZ:
    case ZYDIS_MNEMONIC_JZ:
      return Fusion::after_by_order;
    case ZYDIS_MNEMONIC_JNO:
    case ZYDIS_MNEMONIC_JNP:
    case ZYDIS_MNEMONIC_JNS:
    case ZYDIS_MNEMONIC_JO:
    case ZYDIS_MNEMONIC_JP:
    case ZYDIS_MNEMONIC_JS:
      return Fusion::after_by_other;
    default:
      return Fusion::none;
  }
}

bool may_fuse(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_XOR:
      return true;
    default:
      return false;
  }
}

bool repeats(const ZydisInstruction& decoded) {
  constexpr ZydisInstructionAttributes kRepeated =
      ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  return (decoded.instruction.attributes & kRepeated) != 0;
}

bool writes_ss(const ZydisInstruction& decoded) {
  const auto operands = decoded.visible_operands();
  return decoded.mnemonic() == ZYDIS_MNEMONIC_MOV && !operands.empty() &&
         operands.front().type == ZYDIS_OPERAND_TYPE_REGISTER &&
         operands.front().reg.value == ZYDIS_REGISTER_SS;
}

bool enters_system(const ZydisInstruction& decoded) {
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_VTX:
      return true;
    default:
      return false;
  }
}

bool sets_return(const ZydisInstruction& decoded) {
  if (decoded.instruction.meta.category == ZYDIS_CATEGORY_CALL) return false;
  if (decoded.instruction.meta.category == ZYDIS_CATEGORY_PUSH) return true;
  const auto operands = decoded.visible_operands();
  return std::any_of(operands.begin(), operands.end(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RSP &&
           operand.mem.index == ZYDIS_REGISTER_NONE && operand.mem.disp.value == 0 &&
           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  });
}

std::optional<Instruction> classify_x86_64(std::span<const std::byte> code, std::uint64_t address) {
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
  result.memory = memory_of(decoded, address);
  result.categories = categories_of(decoded, result.memory);
  result.target = target_of(decoded, address);
  result.flow = flow_of(decoded, result.target.has_value());
  result.fusion = fusion_of(decoded, result.memory);
  result.may_fuse = may_fuse(decoded.mnemonic());
  result.repeats = repeats(decoded);
  result.delays_traps = writes_ss(decoded);
  result.enters_system = enters_system(decoded);
  result.sets_return = sets_return(decoded);
  result.calls_kernel = decoded.instruction.meta.category == ZYDIS_CATEGORY_SYSCALL;
  return result;
}

}  // namespace

bool fuses(Fusion first, Fusion second) {
  switch (second) {
    case Fusion::after_by_carry:
      return first == Fusion::before_any || first == Fusion::before_carry;
    case Fusion::after_by_order:
      return first == Fusion::before_any || first == Fusion::before_carry ||
             first == Fusion::before_order;
    case Fusion::after_by_other:
      return first == Fusion::before_any;
    default:
      return false;
  }
}

bool can_be_second(Fusion fusion) {
  return fuses(Fusion::before_any, fusion);
}

std::optional<Instruction> classify(Arch arch, std::span<const std::byte> code,
                                    std::uint64_t address) {
  return arch == Arch::x86_64 ? classify_x86_64(code, address) : classify_aarch64(code, address);
}

unsigned step_without_instruction(Arch arch) {
  return arch == Arch::x86_64 ? 1 : 4;
}

}  // namespace skid::instructions
