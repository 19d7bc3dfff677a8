// Code of x86-64 and of aarch64, one instruction after the other.
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/support/address.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace {

using namespace skid::instructions;
using skid::Arch;
using skid::fuzz::require;

bool has(const Instruction& instruction, Access access) {
  for (const MemoryOperand& operand : instruction.memory) {
    if (operand.access == access) return true;
  }
  return false;
}

/// Invariants of every instruction.
void check(const Instruction& instruction) {
  const Categories& categories = instruction.categories;
  const bool both = has(instruction, Access::read_write);
  const bool loads = has(instruction, Access::read) || both;
  const bool stores = has(instruction, Access::write) || both;
  require(instruction.memory.size() <= 5);  // XCRYPT of VIA; others have two at most
  require(!categories.empty());
  require(categories.contains(Category::store) == stores);
  // A load has the category of a load, or OTHER.
  bool load_category = false;
  for (const Category category : {Category::gp_load, Category::xmm_load, Category::ymm_load,
                                  Category::zmm_load, Category::str_load, Category::locked_load,
                                  Category::nt_load, Category::other_load, Category::load}) {
    load_category |= categories.contains(category);
  }
  require(loads || !load_category);
  require(!loads || load_category || categories.contains(Category::other));
  if (categories.contains(Category::no_memory)) {
    Categories others = categories;
    require(instruction.memory.empty() && (others |= Categories{Category::vector}) ==
                                              Categories{Category::no_memory, Category::vector});
  }
  unsigned kinds = 0;
  for (const Category kind : {Category::cond_branch, Category::jump, Category::indirect_jump,
                              Category::call, Category::indirect_call, Category::return_near}) {
    kinds += categories.contains(kind) ? 1 : 0;
  }
  require(kinds <= 1 && (kinds == 0 || categories.contains(Category::branch)));
  if (instruction.target) {
    require(categories.contains(Category::branch) || categories.contains(Category::other));
  }
}

void decode(Arch arch, std::span<const std::byte> code) noexcept {
  constexpr std::uint64_t kAddress = 0xffff'ffff'ffff'ff00;  // so that targets wrap
  const unsigned longest = arch == Arch::x86_64 ? 15 : 4;
  while (!code.empty()) {
    const auto found = classify(arch, code, kAddress);
    std::size_t step = step_without_instruction(arch);
    if (found) {
      step = found->length;
      require(step >= 1 && step <= longest && step <= code.size());
      check(*found);
      // Bytes after the instruction do not matter, and each of its own does.
      const auto alone = classify(arch, code.first(step), kAddress);
      require(alone && alone->length == step && alone->categories == found->categories &&
              alone->memory == found->memory && alone->target == found->target);
      require(!classify(arch, code.first(step - 1), kAddress));
    }
    code = code.subspan(std::min(step, code.size()));
  }
}

}  // namespace

void skid::fuzz::use(std::span<const std::uint8_t> input) {
  decode(Arch::x86_64, std::as_bytes(input));
  decode(Arch::aarch64, std::as_bytes(input));
}
