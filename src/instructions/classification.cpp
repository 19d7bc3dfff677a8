#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/instructions/zydis_instruction.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include <Zydis/Zydis.h>

namespace skid::instructions {
namespace {

/// Instructions in categories of computations that also do something else: they change flags of the
/// system (CLI, STI), the state of the SSE unit, buffers of lightweight profiling, transactions.
constexpr auto kNoMereComputation = std::to_array<ZydisMnemonic>(
    {ZYDIS_MNEMONIC_CLI, ZYDIS_MNEMONIC_STI, ZYDIS_MNEMONIC_FXRSTOR, ZYDIS_MNEMONIC_FXRSTOR64,
     ZYDIS_MNEMONIC_FXSAVE, ZYDIS_MNEMONIC_FXSAVE64, ZYDIS_MNEMONIC_LDMXCSR, ZYDIS_MNEMONIC_STMXCSR,
     ZYDIS_MNEMONIC_VLDMXCSR, ZYDIS_MNEMONIC_VSTMXCSR, ZYDIS_MNEMONIC_LLWPCB, ZYDIS_MNEMONIC_LWPINS,
     ZYDIS_MNEMONIC_LWPVAL, ZYDIS_MNEMONIC_SLWPCB, ZYDIS_MNEMONIC_XTEST});

constexpr auto kComputations = std::to_array<ZydisInstructionCategory>(
    {ZYDIS_CATEGORY_ADOX_ADCX,   ZYDIS_CATEGORY_AES,
     ZYDIS_CATEGORY_AVX,         ZYDIS_CATEGORY_AVX2,
     ZYDIS_CATEGORY_AVX512,      ZYDIS_CATEGORY_AVX512_BITALG,
     ZYDIS_CATEGORY_AVX512_VBMI, ZYDIS_CATEGORY_AVX512_VP2INTERSECT,
     ZYDIS_CATEGORY_BINARY,      ZYDIS_CATEGORY_BITBYTE,
     ZYDIS_CATEGORY_BLEND,       ZYDIS_CATEGORY_BMI1,
     ZYDIS_CATEGORY_BMI2,        ZYDIS_CATEGORY_BROADCAST,
     ZYDIS_CATEGORY_CMOV,        ZYDIS_CATEGORY_COMPRESS,
     ZYDIS_CATEGORY_CONFLICT,    ZYDIS_CATEGORY_CONVERT,
     ZYDIS_CATEGORY_DATAXFER,    ZYDIS_CATEGORY_EXPAND,
     ZYDIS_CATEGORY_FLAGOP,      ZYDIS_CATEGORY_FMA4,
     ZYDIS_CATEGORY_FP16,        ZYDIS_CATEGORY_GFNI,
     ZYDIS_CATEGORY_IFMA,        ZYDIS_CATEGORY_KMASK,
     ZYDIS_CATEGORY_LOGICAL,     ZYDIS_CATEGORY_LOGICAL_FP,
     ZYDIS_CATEGORY_LZCNT,       ZYDIS_CATEGORY_MMX,
     ZYDIS_CATEGORY_PCLMULQDQ,   ZYDIS_CATEGORY_ROTATE,
     ZYDIS_CATEGORY_SEMAPHORE,   ZYDIS_CATEGORY_SETCC,
     ZYDIS_CATEGORY_SHA,         ZYDIS_CATEGORY_SHIFT,
     ZYDIS_CATEGORY_SSE,         ZYDIS_CATEGORY_STTNI,
     ZYDIS_CATEGORY_TBM,         ZYDIS_CATEGORY_VAES,
     ZYDIS_CATEGORY_VBMI2,       ZYDIS_CATEGORY_VEX,
     ZYDIS_CATEGORY_VFMA,        ZYDIS_CATEGORY_VPCLMULQDQ,
     ZYDIS_CATEGORY_XOP});

/// Whether an operand is a register of one of these classes.
bool is_register_of(const ZydisDecodedOperand& operand, auto... classes) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
         ((ZydisRegisterGetClass(operand.reg.value) == classes) || ...);
}

/// Whether an operand is floating point in memory, of at most 64 bits each.
bool is_floating_point(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
         (operand.element_type == ZYDIS_ELEMENT_TYPE_FLOAT16 ||
          operand.element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
          operand.element_type == ZYDIS_ELEMENT_TYPE_FLOAT64);
}

/// Whether an instruction computes only in registers, flags and the operand that it names: without
/// microcode that walks tables, saved state, devices, or modes of the processor.
bool only_computes(const ZydisInstruction& decoded) {
  if (contains(kNoMereComputation, decoded.mnemonic()) ||
      !contains(kComputations, decoded.instruction.meta.category)) {
    return false;
  }
  // MOV is one mnemonic for all registers, including those of the system.
  return std::ranges::none_of(decoded.visible_operands(), [](const ZydisDecodedOperand& operand) {
    return is_register_of(operand, ZYDIS_REGCLASS_SEGMENT, ZYDIS_REGCLASS_CONTROL,
                          ZYDIS_REGCLASS_DEBUG, ZYDIS_REGCLASS_TEST);
  });
}

/// Whether an instruction divides: DIV, IDIV, FIDIVR, VDIVPS, FSQRT, SQRTSD and similar ones; not
/// RSQRTPS, which uses a table.
bool is_division(ZydisMnemonic mnemonic) {
  std::string_view name = ZydisMnemonicGetString(mnemonic);
  name.remove_prefix(std::min(name.find_first_not_of("fiv"), name.size()));
  return name.starts_with("div") || name.starts_with("sqrt");
}

/// Returns the category of a demand load of an instruction that `only_computes`: that of the widest
/// vector register that the instruction names or the operand fills; `other_load` for MMX and mask
/// registers.
Category load_of(const ZydisInstruction& decoded) {
  unsigned width = 0;  // bits of a vector register, 0 for none
  bool foreign = false;
  for (const ZydisDecodedOperand& operand : decoded.visible_operands()) {
    foreign |= is_register_of(operand, ZYDIS_REGCLASS_MMX, ZYDIS_REGCLASS_MASK);
    const bool is_vector_register =
        is_register_of(operand, ZYDIS_REGCLASS_XMM, ZYDIS_REGCLASS_YMM, ZYDIS_REGCLASS_ZMM);
    const bool is_wide = operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.size > 128;
    if (is_vector_register) {
      width = std::max<unsigned>(width, ZydisRegisterGetWidth(kMode, operand.reg.value));
    }
    // Floating point goes through vector registers, also where CVTSD2SI names none of them.
    if (is_floating_point(operand)) width = std::max(width, 128U);
    if (is_wide) width = std::max<unsigned>(width, operand.size);
  }
  // {1to16} fills a register from one element.
  if (decoded.instruction.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID) {
    width = std::max<unsigned>(width, decoded.instruction.avx.vector_length);
  }
  if (width > 256) return Category::zmm_load;
  if (width > 128) return Category::ymm_load;
  if (width > 0) return Category::xmm_load;
  return foreign ? Category::other_load : Category::gp_load;
}

bool is_string(const ZydisInstruction& decoded) {
  return decoded.is_of(ZYDIS_CATEGORY_STRINGOP, ZYDIS_CATEGORY_IOSTRINGOP);
}

/// Adds the categories of an instruction's loads.
void add_load(const ZydisInstruction& decoded, Categories& categories) {
  if ((decoded.instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0) {
    categories.insert(Category::locked_load);
  } else if (is_string(decoded)) {
    categories.insert(Category::str_load);
  } else if (decoded.is(ZYDIS_MNEMONIC_XLAT)) {
    categories.insert(Category::gp_load);
  } else if (decoded.is(ZYDIS_MNEMONIC_XCHG) || !only_computes(decoded)) {
    categories.insert(Category::other_load);
  } else if (decoded.is(ZYDIS_MNEMONIC_MOVNTDQA)) {
    categories.insert(Category::nt_load);
  } else {
    categories.insert(load_of(decoded));
    if (decoded.is(ZYDIS_MNEMONIC_VMOVNTDQA)) categories.insert(Category::nt_load);
  }
}

/// Returns the category of an instruction that has one of its own; nullopt for others.
std::optional<Category> category_of(const ZydisInstruction& decoded) {
  if (decoded.is(ZYDIS_MNEMONIC_MFENCE)) return Category::mfence;
  if (decoded.is(ZYDIS_MNEMONIC_CPUID)) return Category::cpuid;
  if (decoded.is(ZYDIS_MNEMONIC_LEA)) return Category::lea;
  if (decoded.is(ZYDIS_MNEMONIC_CLFLUSH, ZYDIS_MNEMONIC_CLFLUSHOPT)) return Category::flush;
  if (decoded.is(ZYDIS_MNEMONIC_ENDBR32, ZYDIS_MNEMONIC_ENDBR64, ZYDIS_MNEMONIC_NOP) ||
      decoded.is_of(ZYDIS_CATEGORY_WIDENOP)) {
    return Category::nop;
  }
  if (decoded.is_of(ZYDIS_CATEGORY_PREFETCH, ZYDIS_CATEGORY_PREFETCHWT1)) return Category::prefetch;
  if (decoded.is_of(ZYDIS_CATEGORY_IO, ZYDIS_CATEGORY_IOSTRINGOP)) return Category::io;
  return std::nullopt;
}

/// Whether an instruction is a jump, call or return within the code segment: all of its memory
/// accesses are among its operands. Far branches read descriptors; branches of RTM begin and end
/// transactions.
bool is_near_branch(const ZydisInstruction& decoded) {
  return decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_SHORT ||
         decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR;
}

bool is_branch(const ZydisInstruction& decoded) {
  return decoded.is_of(ZYDIS_CATEGORY_CALL, ZYDIS_CATEGORY_COND_BR, ZYDIS_CATEGORY_RET,
                       ZYDIS_CATEGORY_UNCOND_BR) &&
         decoded.instruction.meta.isa_ext != ZYDIS_ISA_EXT_RTM;
}

/// Returns the category of a near branch; nullopt for other instructions.
std::optional<Category> branch_kind(const ZydisInstruction& decoded) {
  if (!is_near_branch(decoded)) return std::nullopt;
  const auto operands = decoded.visible_operands();
  const bool direct = !operands.empty() && operands.front().type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return direct ? Category::call : Category::indirect_call;
    case ZYDIS_CATEGORY_COND_BR:
      return Category::cond_branch;
    case ZYDIS_CATEGORY_RET:
      return Category::return_near;
    default:
      return direct ? Category::jump : Category::indirect_jump;
  }
}

/// Whether an instruction belongs to x87, MMX, SSE or AVX, except those of masks only, or converts
/// floating point in memory.
bool is_vector(const ZydisInstruction& decoded) {
  switch (decoded.instruction.meta.isa_ext) {
    case ZYDIS_ISA_EXT_X87:
    case ZYDIS_ISA_EXT_MMX:  // EMMS, which has no operand
    case ZYDIS_ISA_EXT_AMD3DNOW:
      return true;
    default:
      break;
  }
  return std::ranges::any_of(decoded.all_operands(), [](const ZydisDecodedOperand& operand) {
    return is_floating_point(operand) ||
           (operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
            operand.element_type == ZYDIS_ELEMENT_TYPE_FLOAT80) ||
           is_register_of(operand, ZYDIS_REGCLASS_X87, ZYDIS_REGCLASS_MMX, ZYDIS_REGCLASS_XMM,
                          ZYDIS_REGCLASS_YMM, ZYDIS_REGCLASS_ZMM);
  });
}

/// Whether an instruction only pushes or pops general registers or numbers, with no other effect
/// than a load or store of the stack.
bool is_plain_stack_access(const ZydisInstruction& decoded) {
  if (decoded.is(ZYDIS_MNEMONIC_PUSH)) return decoded.is_of(ZYDIS_CATEGORY_PUSH);
  if (decoded.is(ZYDIS_MNEMONIC_POP)) {
    const auto operands = decoded.visible_operands();
    return !operands.empty() && !is_register_of(operands.front(), ZYDIS_REGCLASS_SEGMENT);
  }
  return decoded.is(ZYDIS_MNEMONIC_LEAVE);
}

}  // namespace

Categories categories_of(const ZydisInstruction& decoded, std::span<const MemoryOperand> memory) {
  Categories categories;
  const auto own = category_of(decoded);
  const bool branch = is_branch(decoded);
  const bool computes = only_computes(decoded);
  bool loads = false, stores = false;
  for (const MemoryOperand& operand : memory) {
    loads |= operand.access == Access::read || operand.access == Access::read_write;
    stores |= operand.access == Access::write || operand.access == Access::read_write;
  }
  if (own) categories.insert(*own);
  if (branch) {
    categories.insert(Category::branch);
    if (const auto kind = branch_kind(decoded)) categories.insert(*kind);
  }
  if (is_division(decoded.mnemonic())) categories.insert(Category::div);
  if (loads) add_load(decoded, categories);
  if (stores) categories.insert(Category::store);

  // Category::other covers effects that no category so far does.
  const bool explained = own || computes || is_string(decoded) || is_plain_stack_access(decoded) ||
                         (branch && is_near_branch(decoded)) || decoded.is(ZYDIS_MNEMONIC_XLAT);
  if (!explained) categories.insert(Category::other);
  if (categories.empty()) categories.insert(Category::no_memory);
  if (!own && is_vector(decoded)) categories.insert(Category::vector);
  return categories;
}

}  // namespace skid::instructions
