#include "src/instructions/instruction.h"

#include "src/instructions/zydis_instruction.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <Zycore/Status.h>
#include <Zycore/Types.h>
#include <Zydis/Zydis.h>

namespace skid::instructions {
namespace {

Access access_of(ZydisOperandActions actions) {
  const bool reads = (actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
  const bool writes = (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  if (reads && writes) return Access::read_write;
  if (writes) return Access::write;
  return reads ? Access::read : Access::none;
}

/// Whether an instruction only uses the address of an operand that Zydis reports as read: its
/// effect on caches and TLBs is neither a load nor a store.
bool only_takes_the_address(const ZydisInstruction& decoded) {
  // VGATHERPF0DPD and similar instructions have the category of gathers.
  const std::string_view name = ZydisMnemonicGetString(decoded.mnemonic());
  return decoded.is_of(ZYDIS_CATEGORY_WIDENOP, ZYDIS_CATEGORY_PREFETCH) ||
         decoded.is(ZYDIS_MNEMONIC_CLDEMOTE, ZYDIS_MNEMONIC_CLFLUSH, ZYDIS_MNEMONIC_CLFLUSHOPT,
                    ZYDIS_MNEMONIC_CLWB, ZYDIS_MNEMONIC_INVLPG, ZYDIS_MNEMONIC_PREFETCHWT1,
                    ZYDIS_MNEMONIC_UD0, ZYDIS_MNEMONIC_UD1) ||
         name.starts_with("vgatherpf") || name.starts_with("vscatterpf");
}

/// Whether a mask decides which elements are loaded or stored.
bool has_mask(const ZydisInstruction& decoded) {
  const ZydisMaskMode mode = decoded.instruction.avx.mask.mode;
  return (mode != ZYDIS_MASK_MODE_INVALID && mode != ZYDIS_MASK_MODE_DISABLED) ||
         decoded.is(ZYDIS_MNEMONIC_MASKMOVDQU, ZYDIS_MNEMONIC_MASKMOVQ, ZYDIS_MNEMONIC_VMASKMOVDQU,
                    ZYDIS_MNEMONIC_VMASKMOVPD, ZYDIS_MNEMONIC_VMASKMOVPS, ZYDIS_MNEMONIC_VPMASKMOVD,
                    ZYDIS_MNEMONIC_VPMASKMOVQ);
}

/// Whether an operand is the access at the stack pointer that is not written in the assembly.
bool is_on_stack(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
         operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
         operand.mem.base == ZYDIS_REGISTER_RSP;
}

bool is_in_segment(const ZydisDecodedOperand& operand) {
  return operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS;
}

/// Returns what to add to the displacement of an operand by RSP, so that it is from the value
/// before the instruction; nullopt: not known. Zydis has no displacement for what is pushed, and
/// POP to memory computes the address after it incremented RSP (Intel SDM Vol. 2, "POP").
std::optional<std::uint64_t> shift_of_stack(const ZydisInstruction& decoded,
                                            const ZydisDecodedOperand& operand) {
  const auto added = added_to_stack_pointer(decoded);
  if (decoded.is(ZYDIS_MNEMONIC_POP)) return is_on_stack(operand) ? 0 : added;
  if (!is_on_stack(operand)) return 0;
  if (!added) return std::nullopt;
  const bool is_pushed = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  return is_pushed ? *added : 0;
}

std::optional<AddressFormula> formula_of(const ZydisInstruction& decoded,
                                         const ZydisDecodedOperand& operand) {
  const auto& memory = operand.mem;
  constexpr unsigned kAddressBits = 64;
  if (memory.type != ZYDIS_MEMOP_TYPE_MEM || decoded.instruction.address_width != kAddressBits ||
      is_in_segment(operand)) {
    return std::nullopt;
  }
  if (decoded.is(ZYDIS_MNEMONIC_BT, ZYDIS_MNEMONIC_BTC, ZYDIS_MNEMONIC_BTR, ZYDIS_MNEMONIC_BTS)) {
    return std::nullopt;  // a register can select any bit
  }
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
    formula.base = register_number(memory.base);
    if (!formula.base) return std::nullopt;
  }
  if (memory.base == ZYDIS_REGISTER_RSP) {
    const auto shift = shift_of_stack(decoded, operand);
    if (!shift) return std::nullopt;
    formula.displacement += *shift;
  }
  if (memory.index != ZYDIS_REGISTER_NONE) {
    formula.index = register_number(memory.index);
    if (!formula.index) return std::nullopt;
    formula.scale = memory.scale;
  }
  return formula;
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
    constexpr ZydisOperandActions kConditional =
        ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE;
    found.is_conditional = (operand.actions & kConditional) != 0 || has_mask(decoded);
    found.on_stack = is_on_stack(operand);
    found.in_segment = is_in_segment(operand);
    found.formula = formula_of(decoded, operand);
    memory.push_back(found);
  }
  // These write a line addressed by a register, for which Zydis has no operand.
  if (decoded.is(ZYDIS_MNEMONIC_CLZERO, ZYDIS_MNEMONIC_ENQCMD, ZYDIS_MNEMONIC_ENQCMDS)) {
    memory.push_back({.access = Access::write, .implicit = true});
  }
  return memory;
}

std::optional<std::uint64_t> target_of(const ZydisInstruction& decoded, std::uint64_t address) {
  // XBEGIN is not a branch for Zydis, but goes to its operand when the transaction is aborted.
  if (decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE &&
      !decoded.is(ZYDIS_MNEMONIC_XBEGIN)) {
    return std::nullopt;
  }
  for (const ZydisDecodedOperand& operand : decoded.visible_operands()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative != ZYAN_FALSE) {
      return address + decoded.instruction.length + operand.imm.value.u;  // wraps as the CPU does
    }
  }
  return std::nullopt;
}

Flow flow_of(const ZydisInstruction& decoded, bool has_target) {
  if (decoded.is(ZYDIS_MNEMONIC_HLT, ZYDIS_MNEMONIC_UD0, ZYDIS_MNEMONIC_UD1, ZYDIS_MNEMONIC_UD2,
                 ZYDIS_MNEMONIC_XABORT)) {
    return Flow::leaves;
  }
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return Flow::call;
    case ZYDIS_CATEGORY_COND_BR:
      return has_target ? Flow::conditional : Flow::next;  // XEND and XTEST have no target
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

/// Whether an instruction is not fused because memory is its destination or is compared with a
/// number.
bool keeps_from_fusion(const ZydisInstruction& decoded, std::span<const MemoryOperand> memory) {
  const auto is_no_read = [](const MemoryOperand& operand) {
    return operand.access != Access::read;
  };
  const auto is_number = [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  };
  return !memory.empty() && (std::ranges::any_of(memory, is_no_read) ||
                             std::ranges::any_of(decoded.visible_operands(), is_number));
}

Fusion fusion_of(const ZydisInstruction& decoded, std::span<const MemoryOperand> memory) {
  Fusion before = Fusion::none;
  if (decoded.is(ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_TEST)) before = Fusion::before_any;
  if (decoded.is(ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_SUB)) {
    before = Fusion::before_carry;
  }
  if (decoded.is(ZYDIS_MNEMONIC_DEC, ZYDIS_MNEMONIC_INC)) before = Fusion::before_order;
  if (before != Fusion::none) return keeps_from_fusion(decoded, memory) ? Fusion::none : before;
  if (decoded.is(ZYDIS_MNEMONIC_JB, ZYDIS_MNEMONIC_JBE, ZYDIS_MNEMONIC_JNB, ZYDIS_MNEMONIC_JNBE)) {
    return Fusion::after_by_carry;
  }
  if (decoded.is(ZYDIS_MNEMONIC_JL, ZYDIS_MNEMONIC_JLE, ZYDIS_MNEMONIC_JNL, ZYDIS_MNEMONIC_JNLE,
                 ZYDIS_MNEMONIC_JNZ, ZYDIS_MNEMONIC_JZ)) {
    return Fusion::after_by_order;
  }
  if (decoded.is(ZYDIS_MNEMONIC_JNO, ZYDIS_MNEMONIC_JNP, ZYDIS_MNEMONIC_JNS, ZYDIS_MNEMONIC_JO,
                 ZYDIS_MNEMONIC_JP, ZYDIS_MNEMONIC_JS)) {
    return Fusion::after_by_other;
  }
  return Fusion::none;
}

bool may_fuse(const ZydisInstruction& decoded) {
  return decoded.is(ZYDIS_MNEMONIC_ADD, ZYDIS_MNEMONIC_AND, ZYDIS_MNEMONIC_CMP, ZYDIS_MNEMONIC_DEC,
                    ZYDIS_MNEMONIC_INC, ZYDIS_MNEMONIC_OR, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_TEST,
                    ZYDIS_MNEMONIC_XOR);
}

bool repeats(const ZydisInstruction& decoded) {
  constexpr ZydisInstructionAttributes kRepeated =
      ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  return (decoded.instruction.attributes & kRepeated) != 0;
}

bool writes_ss(const ZydisInstruction& decoded) {
  const auto operands = decoded.visible_operands();
  return decoded.is(ZYDIS_MNEMONIC_MOV) && !operands.empty() &&
         operands.front().type == ZYDIS_OPERAND_TYPE_REGISTER &&
         operands.front().reg.value == ZYDIS_REGISTER_SS;
}

bool sets_return(const ZydisInstruction& decoded) {
  if (decoded.is_of(ZYDIS_CATEGORY_CALL)) return false;
  if (decoded.is_of(ZYDIS_CATEGORY_PUSH)) return true;
  return std::ranges::any_of(decoded.visible_operands(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RSP &&
           operand.mem.index == ZYDIS_REGISTER_NONE && operand.mem.disp.value == 0 &&
           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  });
}

std::optional<Instruction> classify_x86_64(std::span<const std::byte> code, std::uint64_t address) {
  const auto found = decode(code);
  if (!found) return std::nullopt;
  const ZydisInstruction& decoded = *found;
  Instruction result;
  result.length = decoded.instruction.length;
  result.memory = memory_of(decoded);
  result.categories = categories_of(decoded, result.memory);
  result.target = target_of(decoded, address);
  result.flow = flow_of(decoded, result.target.has_value());
  result.fusion = fusion_of(decoded, result.memory);
  result.may_fuse = may_fuse(decoded);
  result.repeats = repeats(decoded);
  result.delays_traps = writes_ss(decoded);
  result.enters_system = enters_system(decoded);
  result.sets_return = sets_return(decoded);
  result.calls_kernel = decoded.is_of(ZYDIS_CATEGORY_SYSCALL);
  return result;
}

}  // namespace

std::optional<ZydisInstruction> decode(std::span<const std::byte> code) {
  ZydisDecoder decoder;
  if (ZYAN_FAILED(ZydisDecoderInit(&decoder, kMode, ZYDIS_STACK_WIDTH_64))) return std::nullopt;
  std::optional<ZydisInstruction> decoded(std::in_place);
  if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &decoded->instruction,
                                         decoded->operands.data()))) {
    return std::nullopt;
  }
  return decoded;
}

std::optional<std::uint8_t> register_number(ZydisRegister reg) {
  if (ZydisRegisterGetClass(reg) != ZYDIS_REGCLASS_GPR64) return std::nullopt;
  const auto number = ZydisRegisterGetId(reg);
  constexpr int kRegisters = 16;
  return number >= 0 && number < kRegisters ? std::optional(static_cast<std::uint8_t>(number))
                                            : std::nullopt;
}

bool enters_system(const ZydisInstruction& decoded) {
  return decoded.is_of(ZYDIS_CATEGORY_INTERRUPT, ZYDIS_CATEGORY_SGX, ZYDIS_CATEGORY_SYSCALL,
                       ZYDIS_CATEGORY_SYSRET, ZYDIS_CATEGORY_SYSTEM, ZYDIS_CATEGORY_UINTR,
                       ZYDIS_CATEGORY_VTX);
}

std::optional<std::uint64_t> added_to_stack_pointer(const ZydisInstruction& decoded) {
  constexpr unsigned kBitsOfAByte = 8;
  const bool is_near = decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR;
  const bool returns = decoded.is(ZYDIS_MNEMONIC_RET) && is_near;
  const bool adds =
      returns || decoded.is(ZYDIS_MNEMONIC_POP, ZYDIS_MNEMONIC_POPF, ZYDIS_MNEMONIC_POPFQ);
  const bool subtracts =
      (decoded.is(ZYDIS_MNEMONIC_CALL) && is_near) ||
      decoded.is(ZYDIS_MNEMONIC_PUSH, ZYDIS_MNEMONIC_PUSHF, ZYDIS_MNEMONIC_PUSHFQ);
  const auto operands = decoded.all_operands();
  const auto slot = std::ranges::find_if(operands, is_on_stack);
  if (!(adds || subtracts) || slot == operands.end()) return std::nullopt;
  const std::uint64_t bytes = slot->size / kBitsOfAByte;
  if (subtracts) return 0 - bytes;
  const bool has_number = returns && decoded.instruction.operand_count_visible > 0;
  return bytes + (has_number ? operands.front().imm.value.u : 0);  // RET imm16
}

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

std::vector<std::uint64_t> starts_in(Arch arch, std::span<const std::byte> code,
                                     std::uint64_t address) {
  std::vector<std::uint64_t> starts;
  for_each_instruction(arch, code, address,
                       [&](std::uint64_t start, const auto&) { starts.push_back(start); });
  return starts;
}

}  // namespace skid::instructions
