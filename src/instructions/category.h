// Categories of instructions that events distinguish.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace skid::instructions {

/// What an instruction does that can cause an event. One instruction can do several: `div [rax]` is
/// `div` and `gp_load`. The loads are those of Hadi Brais, "An introduction to the cache hit and
/// miss performance monitoring events"; docs/instructions.md has the rules.
enum class Category {
  gp_load,      ///< a demand load for a general-purpose register, or for integers of no register
  xmm_load,     ///< a demand load for an XMM register
  ymm_load,     ///< a demand load for a YMM register
  zmm_load,     ///< a demand load for a ZMM register
  str_load,     ///< a string instruction that loads
  prefetch,     ///< software prefetches
  io,           ///< IN, OUT, INS, OUTS
  locked_load,  ///< LOCK-prefixed read-modify-write; not XCHG, which locks without the prefix
  nt_load,      ///< MOVNTDQA
  other_load,   ///< all other loads: of the stack (RET, POP), of a target, XCHG, x87, MMX, gathers
  mfence,
  cpuid,
  store,   ///< writes to memory; calls and pushes too
  branch,  ///< jumps, calls, returns; on x86-64 with the kind, if they are near
  cond_branch,
  jump,           ///< direct jumps without a condition
  indirect_jump,  ///< jumps to an address in a register or in memory
  call,           ///< direct calls
  indirect_call,
  return_near,
  div,        ///< divisions and square roots, of integers and of floating point
  vector,     ///< uses an x87, MMX or vector register, or floating point in memory
  flush,      ///< CLFLUSH, CLFLUSHOPT
  lea,        ///< an address without an access
  nop,        ///< NOPs with and without operand, also ENDBR64
  no_memory,  ///< computes in registers and flags, without microcode that could touch memory
  load,       ///< aarch64: loads of all kinds; x86-64 has the categories above
  other,      ///< has an effect that no other category covers
};

/// All categories in the order of the enumeration.
inline constexpr auto kCategories = [] {
  std::array<Category, static_cast<std::size_t>(Category::other) + 1> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Category>(i);
  return all;
}();

/// Returns the name in reports: "GP_LOAD"; "NOMEM" for no_memory.
inline std::string_view name_of(Category category) {
  static constexpr std::array<std::string_view, kCategories.size()> kNames{
      "GP_LOAD",     "XMM_LOAD", "YMM_LOAD",   "ZMM_LOAD", "STR_LOAD", "PREFETCH", "IO",
      "LOCKED_LOAD", "NT_LOAD",  "OTHER_LOAD", "MFENCE",   "CPUID",    "STORE",    "BRANCH",
      "COND_BRANCH", "JUMP",     "IND_JUMP",   "CALL",     "IND_CALL", "RETURN",   "DIV",
      "VECTOR",      "FLUSH",    "LEA",        "NOP",      "NOMEM",    "LOAD",     "OTHER"};
  return kNames.at(static_cast<std::size_t>(category));
}

/// A set of categories.
class Categories {
 public:
  Categories() = default;
  Categories(std::initializer_list<Category> categories) {
    for (const Category category : categories) insert(category);
  }

  void insert(Category category) noexcept { bits_ |= bit(category); }
  bool contains(Category category) const noexcept { return (bits_ & bit(category)) != 0; }
  bool empty() const noexcept { return bits_ == 0; }
  Categories& operator|=(const Categories& other) noexcept {
    bits_ |= other.bits_;
    return *this;
  }
  friend bool operator==(const Categories&, const Categories&) = default;

 private:
  static constexpr std::uint32_t bit(Category category) {
    return std::uint32_t{1} << static_cast<unsigned>(category);
  }
  static_assert(kCategories.size() <= 32);

  std::uint32_t bits_ = 0;
};

/// Joins the names of categories in the order of kCategories, one space between two.
inline std::string names_of(const Categories& categories) {
  std::string names;
  for (const Category category : kCategories) {
    if (!categories.contains(category)) continue;
    if (!names.empty()) names += ' ';
    names += name_of(category);
  }
  return names;
}

}  // namespace skid::instructions
