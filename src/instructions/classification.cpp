#include "src/instructions/zydis_instruction.h"

#include <algorithm>

namespace skid::instructions {
namespace {

/// Instructions that compute in registers and flags but for the operand that they name: no
/// microcode that walks tables, no state saved, no device, no mode of the processor.
bool only_computes(const ZydisInstruction& decoded) {
  switch (decoded.mnemonic()) {
    // Clear and set flags of the system.
    case ZYDIS_MNEMONIC_CLI:
    case ZYDIS_MNEMONIC_STI:
    // Among the SSE instructions, but about the state of the unit.
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_LDMXCSR:
    case ZYDIS_MNEMONIC_STMXCSR:
    case ZYDIS_MNEMONIC_VLDMXCSR:
    case ZYDIS_MNEMONIC_VSTMXCSR:
    // Lightweight profiling, among the XOP instructions: writes into its own buffer.
    case ZYDIS_MNEMONIC_LLWPCB:
    case ZYDIS_MNEMONIC_LWPINS:
    case ZYDIS_MNEMONIC_LWPVAL:
    case ZYDIS_MNEMONIC_SLWPCB:
    case ZYDIS_MNEMONIC_XTEST:
      return false;
    default:
      break;
  }
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_AES:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_AVX2:
    case ZYDIS_CATEGORY_AVX512:
    case ZYDIS_CATEGORY_AVX512_BITALG:
    case ZYDIS_CATEGORY_AVX512_VBMI:
    case ZYDIS_CATEGORY_AVX512_VP2INTERSECT:
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_BLEND:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_BROADCAST:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_COMPRESS:
    case ZYDIS_CATEGORY_CONFLICT:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_EXPAND:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_FMA4:
    case ZYDIS_CATEGORY_FP16:
    case ZYDIS_CATEGORY_GFNI:
    case ZYDIS_CATEGORY_IFMA:
    case ZYDIS_CATEGORY_KMASK:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_MMX:
    case ZYDIS_CATEGORY_PCLMULQDQ:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SEMAPHORE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHA:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_STTNI:
    case ZYDIS_CATEGORY_TBM:
    case ZYDIS_CATEGORY_VAES:
    case ZYDIS_CATEGORY_VBMI2:
    case ZYDIS_CATEGORY_VEX:
    case ZYDIS_CATEGORY_VFMA:
    case ZYDIS_CATEGORY_VPCLMULQDQ:
    case ZYDIS_CATEGORY_XOP:
      break;
    default:
      return false;
  }
  // MOV is one mnemonic for all registers, those of the system too.
  return std::all_of(decoded.visible_operands().begin(), decoded.visible_operands().end(),
                     [](const ZydisDecodedOperand& operand) {
                       if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return true;
                       switch (ZydisRegisterGetClass(operand.reg.value)) {
                         case ZYDIS_REGCLASS_SEGMENT:
                         case ZYDIS_REGCLASS_CONTROL:
                         case ZYDIS_REGCLASS_DEBUG:
                         case ZYDIS_REGCLASS_TEST:
                           return false;
                         default:
                           return true;
                       }
                     });
}

bool is_division(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_DIVPD:
    case ZYDIS_MNEMONIC_DIVPS:
    case ZYDIS_MNEMONIC_DIVSD:
    case ZYDIS_MNEMONIC_DIVSS:
    case ZYDIS_MNEMONIC_FDIV:
    case ZYDIS_MNEMONIC_FDIVP:
    case ZYDIS_MNEMONIC_FDIVR:
    case ZYDIS_MNEMONIC_FDIVRP:
    case ZYDIS_MNEMONIC_FIDIV:
    case ZYDIS_MNEMONIC_FIDIVR:
    case ZYDIS_MNEMONIC_FSQRT:
    case ZYDIS_MNEMONIC_IDIV:
    case ZYDIS_MNEMONIC_SQRTPD:
    case ZYDIS_MNEMONIC_SQRTPS:
    case ZYDIS_MNEMONIC_SQRTSD:
    case ZYDIS_MNEMONIC_SQRTSS:
    case ZYDIS_MNEMONIC_VDIVPD:
    case ZYDIS_MNEMONIC_VDIVPH:
    case ZYDIS_MNEMONIC_VDIVPS:
    case ZYDIS_MNEMONIC_VDIVSD:
    case ZYDIS_MNEMONIC_VDIVSH:
    case ZYDIS_MNEMONIC_VDIVSS:
    case ZYDIS_MNEMONIC_VSQRTPD:
    case ZYDIS_MNEMONIC_VSQRTPH:
    case ZYDIS_MNEMONIC_VSQRTPS:
    case ZYDIS_MNEMONIC_VSQRTSD:
    case ZYDIS_MNEMONIC_VSQRTSH:
    case ZYDIS_MNEMONIC_VSQRTSS:
      return true;
    default:
      return false;
  }
}

/// Where a demand load of an instruction that `only_computes` goes: to the widest vector register
/// that the instruction names or that the operand fills; `other` for MMX and mask registers.
Category load_of(const ZydisInstruction& decoded) {
  unsigned width = 0;  // bits of a vector register, 0 for none
  bool foreign = false;
  for (const ZydisDecodedOperand& operand : decoded.visible_operands()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      switch (ZydisRegisterGetClass(operand.reg.value)) {
        case ZYDIS_REGCLASS_XMM:
          width = std::max(width, 128U);
          break;
        case ZYDIS_REGCLASS_YMM:
          width = std::max(width, 256U);
          break;
        case ZYDIS_REGCLASS_ZMM:
          width = std::max(width, 512U);
          break;
        case ZYDIS_REGCLASS_MMX:
        case ZYDIS_REGCLASS_MASK:
          foreign = true;
          break;
        default:
          break;
      }
    } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      // Floating point goes through vector registers, also where CVTSD2SI names none of them.
      const bool floats = operand.element_type == ZYDIS_ELEMENT_TYPE_FLOAT16 ||
                          operand.element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
                          operand.element_type == ZYDIS_ELEMENT_TYPE_FLOAT64;
      if (floats) width = std::max(width, 128U);
      if (operand.size > 128) width = std::max<unsigned>(width, operand.size);
    }
  }
  // {1to16} fills a register from one element.
  if (decoded.instruction.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID) {
    width = std::max<unsigned>(width, decoded.instruction.avx.vector_length);
  }
  if (width > 256) return Category::zmm_load;
  if (width > 128) return Category::ymm_load;
  if (width > 0) return Category::xmm_load;
  return foreign ? Category::other : Category::gp_load;
}

bool is_string(const ZydisInstruction& decoded) {
  return decoded.instruction.meta.category == ZYDIS_CATEGORY_STRINGOP ||
         decoded.instruction.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/// What the loads of an instruction are.
void add_load(const ZydisInstruction& decoded, Categories& categories) {
  const bool locked = (decoded.instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0;
  if (locked) {
    categories.insert(Category::locked_load);
  } else if (is_string(decoded)) {
    categories.insert(Category::str_load);
  } else if (decoded.mnemonic() == ZYDIS_MNEMONIC_XLAT) {
    categories.insert(Category::gp_load);
  } else if (decoded.mnemonic() == ZYDIS_MNEMONIC_XCHG || !only_computes(decoded)) {
    categories.insert(Category::other);
  } else if (decoded.mnemonic() == ZYDIS_MNEMONIC_MOVNTDQA) {
    categories.insert(Category::nt_load);
  } else {
    categories.insert(load_of(decoded));
    if (decoded.mnemonic() == ZYDIS_MNEMONIC_VMOVNTDQA) categories.insert(Category::nt_load);
  }
}

/// The category of instructions that are a category by themselves.
std::optional<Category> category_of(const ZydisInstruction& decoded) {
  if (is_multibyte_nop(decoded)) return Category::nop;
  switch (decoded.mnemonic()) {
    case ZYDIS_MNEMONIC_MFENCE:
      return Category::mfence;
    case ZYDIS_MNEMONIC_CPUID:
      return Category::cpuid;
    case ZYDIS_MNEMONIC_LEA:
      return Category::lea;
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
      return Category::flush;
    case ZYDIS_MNEMONIC_ENDBR32:
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_NOP:
      return Category::nop;
    default:
      break;
  }
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
      return Category::prefetch;
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
      return Category::io;
    default:
      return std::nullopt;
  }
}

/// Jumps, calls and returns within the code segment, all of whose memory accesses are among their
/// operands. Far ones read descriptors, and those of RTM begin and end transactions.
bool is_near_branch(const ZydisInstruction& decoded) {
  return decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_SHORT ||
         decoded.instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR;
}

bool is_branch(const ZydisInstruction& decoded) {
  switch (decoded.instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR:
      return decoded.instruction.meta.isa_ext != ZYDIS_ISA_EXT_RTM;
    default:
      return false;
  }
}

bool is_plain_push(const ZydisInstruction& decoded) {
  return decoded.mnemonic() == ZYDIS_MNEMONIC_PUSH &&
         decoded.instruction.meta.category == ZYDIS_CATEGORY_PUSH;
}

}  // namespace

bool is_multibyte_nop(const ZydisInstruction& decoded) {
  return decoded.instruction.meta.category == ZYDIS_CATEGORY_WIDENOP;
}

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
  if (branch) categories.insert(Category::branch);
  if (is_division(decoded.mnemonic())) categories.insert(Category::div);
  if (loads) add_load(decoded, categories);
  if (stores) categories.insert(Category::store);

  // What is left to explain: nothing where all that the instruction does has a category by now.
  const bool explained = own || computes || is_string(decoded) || is_plain_push(decoded) ||
                         (branch && is_near_branch(decoded)) ||
                         decoded.mnemonic() == ZYDIS_MNEMONIC_XLAT;
  if (!explained) categories.insert(Category::other);
  if (categories.empty()) categories.insert(Category::no_memory);
  return categories;
}

}  // namespace skid::instructions
