#include "src/instructions/category.h"
#include "src/instructions/instruction.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::instructions {
namespace {

/// Returns bits `high` to `low` of a word, as the manual counts them.
constexpr std::uint32_t bits(std::uint32_t word, unsigned high, unsigned low) {
  return (word >> low) & ((std::uint32_t{1} << (high - low + 1)) - 1);
}
/// Whether a bit of a word is set.
constexpr bool bit(std::uint32_t word, unsigned at) {
  return bits(word, at, at) != 0;
}

/// The memory access of an instruction.
enum class Does : std::uint8_t {
  other,    ///< not classified, or unallocated
  nothing,  ///< an address without an access: prefetches
  load,
  store,
  both,     ///< at one address: atomics
  copy,     ///< loads at one address and stores at another
  fill,     ///< stores in parts
  gather,   ///< loads at many addresses
  scatter,  ///< stores at many addresses
};

constexpr Does load_or_store(bool loads) {
  return loads ? Does::load : Does::store;
}

/// Classifies LD1 to LD4 and ST1 to ST4.
Does simd_structure(std::uint32_t word) {
  const bool single = bit(word, 24), post_indexed = bit(word, 23);
  if (bit(word, 31)) return Does::other;
  // Rm of post-indexed forms. In other forms these bits are reserved, except bit 21 of single
  // structures, which is R.
  const std::uint32_t rest = single ? bits(word, 20, 16) : bits(word, 21, 16);
  if (post_indexed ? !single && bit(word, 21) : rest != 0) return Does::other;
  return load_or_store(bit(word, 22));
}

/// Classifies exclusives, load-acquire and store-release, compare and swap.
Does exclusive_or_ordered(std::uint32_t word) {
  if (bit(word, 24)) return Does::other;
  const bool loads = bit(word, 22), o1 = bit(word, 21);
  if (!o1) return load_or_store(loads);  // LDXR, STXR; with bit 23 LDAR, STLR and LDLAR, STLLR
  if (bit(word, 23)) return Does::both;  // CAS
  return bit(word, 31) ? load_or_store(loads) : Does::both;  // LDXP, STXP; CASP
}

/// Classifies LDR and PRFM of a literal.
Does literal(std::uint32_t word) {
  if (bits(word, 31, 30) != 3) return Does::load;
  return bit(word, 26) ? Does::other : Does::nothing;
}

/// Classifies instructions of Memory Tagging. Tags are not data, but STZG and similar instructions
/// zero the memory that they tag.
Does tag(std::uint32_t word) {
  const std::uint32_t opcode = bits(word, 23, 22), form = bits(word, 11, 10);
  if (opcode == 0) return form == 0 ? Does::store : Does::other;  // STZGM; STG
  if (opcode == 1) return form == 0 ? Does::other : Does::store;  // LDG; STZG
  return opcode == 3 && form != 0 ? Does::store : Does::other;    // STZ2G; LDGM; ST2G, STGM
}

/// Classifies words whose bits 29 to 27 are 011 and whose bit 24 is set: LDAPUR and STLUR, CPY and
/// SET, memory tags.
Does unscaled_ordered(std::uint32_t word) {
  const std::uint32_t form = bits(word, 11, 10), opcode = bits(word, 23, 22);
  if (bit(word, 21)) return !bit(word, 26) && bits(word, 31, 30) == 3 ? tag(word) : Does::other;
  if (form == 1) {
    if (bits(word, 31, 30) != 0) return Does::other;
    return opcode == 3 ? Does::fill : Does::copy;
  }
  if (form != 0 || bit(word, 26)) return Does::other;
  return load_or_store(opcode != 0);
}

/// Classifies LDP, STP and their forms without allocation.
Does pair(std::uint32_t word) {
  if (bits(word, 31, 30) == 3) return Does::other;
  return load_or_store(bit(word, 22));  // with STGP, which stores a tag too
}

/// Classifies loads and stores of one register by their size and opc. `can_prefetch`: the form has
/// no write-back, so that PRFM is one of them.
Does one_register(std::uint32_t word, bool can_prefetch) {
  const std::uint32_t size = bits(word, 31, 30), opcode = bits(word, 23, 22);
  if (bit(word, 26)) return opcode >= 2 && size != 0 ? Does::other : load_or_store(opcode % 2 == 1);
  if (opcode < 2) return load_or_store(opcode == 1);
  if (size == 3) return opcode == 2 && can_prefetch ? Does::nothing : Does::other;
  return size == 2 && opcode == 3 ? Does::other : Does::load;  // LDRSB, LDRSH, LDRSW
}

/// Classifies LDADD and similar instructions, SWP, LDAPR, and loads and stores of 64 bytes.
Does atomic(std::uint32_t word) {
  if (bit(word, 26)) return Does::other;
  const std::uint32_t opcode = bits(word, 14, 12), order = bits(word, 23, 22);
  const bool of_64_bytes = bits(word, 31, 30) == 3 && order == 0;
  if (!bit(word, 15) || opcode == 0) return Does::both;
  if (opcode == 4) return order == 2 ? Does::load : Does::other;  // LDAPR
  if (!of_64_bytes) return Does::other;
  return opcode == 5 ? Does::load : opcode <= 3 ? Does::store : Does::other;  // LD64B, ST64B, …
}

/// Classifies words whose bits 29 to 27 are 111.
Does single_register(std::uint32_t word) {
  if (bit(word, 24)) return one_register(word, true);
  const std::uint32_t form = bits(word, 11, 10);
  if (bit(word, 21)) {
    if (form == 0) return atomic(word);
    if (form == 2) return bit(word, 14) ? one_register(word, true) : Does::other;
    const bool authenticated = bits(word, 31, 30) == 3 && !bit(word, 26);
    return authenticated ? Does::load : Does::other;  // LDRAA, LDRAB
  }
  if (form == 2 && bit(word, 26)) return Does::other;  // unprivileged forms use general registers
  return one_register(word, form == 0);
}

/// Classifies words with bit 27 set and bit 25 clear.
Does load_or_store_of(std::uint32_t word) {
  switch (bits(word, 29, 28)) {
    case 0:
      return bit(word, 26) ? simd_structure(word) : exclusive_or_ordered(word);
    case 1:
      return bit(word, 24) ? unscaled_ordered(word) : literal(word);
    case 2:
      return pair(word);
    default:
      return single_register(word);
  }
}

/// Classifies loads of SVE at a vector of addresses, and prefetches, broadcasts and loads of whole
/// registers, which are encoded among them. `wide`: addresses have 64 bits.
Does sve_gather(std::uint32_t word, bool wide) {
  const std::uint32_t size = bits(word, 24, 23), form = bits(word, 22, 21),
                      how = bits(word, 15, 13);
  if (!wide) {
    if (size == 3 && form <= 1 && how < 4)
      return how == 0 || how == 2 ? Does::load : Does::other;  // LDR
    if (form >= 2 && how >= 4) return Does::load;              // LD1R
  }
  // Prefetches: at scaled offsets, of one address (32-bit form), and at a vector of addresses.
  const bool scaled =
      size == 0 && (wide ? form == 3 || (form == 1 && how < 4) : how < 4 && form % 2 == 1);
  const bool of_one = !wide && ((size == 3 && form >= 2 && how < 4) || (form == 0 && how == 6));
  const bool of_vector = form == 0 && how == 7;
  if (scaled || of_one || of_vector) return bit(word, 4) ? Does::other : Does::nothing;
  if (form == 0 && how == 5 && wide) return Does::other;
  return Does::gather;
}

/// Classifies memory accesses of SVE.
Does sve(std::uint32_t word) {
  switch (bits(word, 31, 29)) {
    case 4:
      return sve_gather(word, false);
    case 5:
      return Does::load;
    case 6:
      return sve_gather(word, true);
    case 7:
      // Bits 15 to 13 are 1x0 or 101 for ST1 at a vector of addresses, 001 for STNT1 at one.
      return bits(word, 15, 13) == 4 || bits(word, 15, 13) == 5 || bits(word, 15, 13) == 6 ||
                     bits(word, 15, 13) == 1
                 ? Does::scatter
                 : Does::store;
    default:
      return Does::other;
  }
}

void add(Access access, Instruction& instruction, bool many = false) {
  instruction.memory.push_back({.access = access, .vector_of_addresses = many});
}

void set_memory(Does does, Instruction& instruction) {
  Categories& categories = instruction.categories;
  switch (does) {
    case Does::other:
      categories.insert(Category::other);
      return;
    case Does::nothing:
      categories.insert(Category::prefetch);
      return add(Access::none, instruction);
    case Does::load:
    case Does::gather:
      categories.insert(Category::load);
      return add(Access::read, instruction, does == Does::gather);
    case Does::store:
    case Does::scatter:
    case Does::fill:
      categories.insert(Category::store);
      instruction.repeats = does == Does::fill;
      return add(Access::write, instruction, does == Does::scatter);
    case Does::both:
      categories = {Category::load, Category::store};
      return add(Access::read_write, instruction);
    case Does::copy:
      categories = {Category::load, Category::store};
      instruction.repeats = true;
      add(Access::write, instruction);
      return add(Access::read, instruction);
  }
}

/// Returns the target of a branch, or of a load of a literal, whose distance is the signed number
/// of words in bits `high` to `low`.
std::uint64_t branch_target(std::uint32_t word, unsigned high, unsigned low,
                            std::uint64_t address) {
  const std::uint32_t words = bits(word, high, low);
  const std::uint64_t sign = std::uint64_t{1} << (high - low);
  const std::uint64_t extended = (words ^ sign) - sign;
  return address + extended * 4;  // wraps as the CPU does
}

void set_branch(Flow flow, std::optional<std::uint64_t> target, Instruction& instruction) {
  instruction.flow = flow;
  instruction.target = target;
  instruction.categories.insert(Category::branch);
}

/// Classifies BR, BLR, RET, ERET and their forms that authenticate the address.
void set_register_branch(std::uint32_t word, Instruction& instruction) {
  switch (bits(word, 24, 21)) {
    case 0:
    case 8:
      return set_branch(Flow::indirect_jump, std::nullopt, instruction);
    case 1:
    case 9:
      return set_branch(Flow::call, std::nullopt, instruction);
    case 2:
      return set_branch(Flow::leaves, std::nullopt, instruction);
    default:  // ERET, DRPS
      instruction.flow = Flow::leaves;
      instruction.categories = {Category::branch, Category::other};
  }
}

/// Classifies words whose bits 28 to 26 are 101: branches, exceptions, and system instructions.
void set_branch_or_system(std::uint32_t word, std::uint64_t address, Instruction& instruction) {
  constexpr std::uint32_t kNop = 0xd503'201f;
  if (bits(word, 30, 26) == 5) {  // B, BL
    return set_branch(bit(word, 31) ? Flow::call : Flow::jump, branch_target(word, 25, 0, address),
                      instruction);
  }
  if (bits(word, 30, 25) == 0b01'1010) {  // CBZ, CBNZ
    return set_branch(Flow::conditional, branch_target(word, 23, 5, address), instruction);
  }
  if (bits(word, 30, 25) == 0b01'1011) {  // TBZ, TBNZ
    return set_branch(Flow::conditional, branch_target(word, 18, 5, address), instruction);
  }
  if (bits(word, 31, 24) == 0b0101'0100) {  // B.cond, BC.cond
    return set_branch(Flow::conditional, branch_target(word, 23, 5, address), instruction);
  }
  if (bits(word, 31, 25) == 0b110'1011) return set_register_branch(word, instruction);
  instruction.categories.insert(word == kNop ? Category::nop : Category::other);
  instruction.enters_system = bits(word, 31, 12) != 0xd5032;  // all except hints
  // SVC, HVC and SMC return to the next instruction; the successor of other exceptions is unknown.
  const bool is_system = bits(word, 31, 22) == 0b11'0101'0100;
  const bool calls_out =
      bits(word, 31, 21) == 0b110'1010'0000 && bits(word, 4, 2) == 0 && bits(word, 1, 0) != 0;
  if (!is_system && !calls_out) instruction.flow = Flow::leaves;
}

}  // namespace

std::optional<Instruction> classify_aarch64(std::span<const std::byte> code,
                                            std::uint64_t address) {
  constexpr unsigned kBytes = 4;
  if (code.size() < kBytes) return std::nullopt;
  // Instructions are little-endian even if data are big-endian.
  std::uint32_t word = 0;
  for (unsigned i = 0; i < kBytes; ++i) word |= std::to_integer<std::uint32_t>(code[i]) << (8 * i);
  Instruction instruction;
  instruction.length = kBytes;
  const std::uint32_t group = bits(word, 28, 25);
  if (group == 0b0001 || group == 0b0011) return std::nullopt;  // unallocated
  if (group == 0 && !bit(word, 31)) return std::nullopt;  // UDF and the words reserved with it
  if ((group & 0b0101) == 0b0100) {
    set_memory(load_or_store_of(word), instruction);
    const bool is_literal = bits(word, 29, 27) == 0b011 && !bit(word, 24);
    if (is_literal && instruction.categories.contains(Category::load)) {
      instruction.literal = branch_target(word, 23, 5, address);
    }
  } else if (group == 0b0010) {
    set_memory(sve(word), instruction);
  } else if ((group & 0b1110) == 0b1010) {
    set_branch_or_system(word, address, instruction);
  } else {
    // Data processing: immediates, registers, floating point and SIMD. The rest is SME.
    const bool computes = (group & 0b1110) == 0b1000 || (group & 0b0101) == 0b0101;
    instruction.categories.insert(computes ? Category::no_memory : Category::other);
  }
  return instruction;
}

}  // namespace skid::instructions
