// Loads of 16, 32 and 64 bytes into a vector register.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace skid::runway::kinds {

namespace {

Kind vector_load(std::string_view name, std::string_view flag, unsigned bytes, Category category,
                 KindCode code) {
  return {
      .name = name,
      .x86_64 = std::move(code),
      .cpu_flag = flag,
      .widths = {bytes},
      .touches_datum = true,
      .category = category,
      .effects = {{Counted::loads}, {Counted::l1_hits}},
  };
}

}  // namespace

Kind xmm_load() {
  return vector_load(
      "xmm-load", "sse", 16, Category::xmm_load,
      {.instructions = {"movups (%rdi), %xmm0"}, .disassembly = "movups xmm0, xmmword ptr [rdi]"});
}

Kind ymm_load() {
  return vector_load("ymm-load", "avx", 32, Category::ymm_load,
                     {.instructions = {"vmovups (%rdi), %ymm0"},
                      .disassembly = "vmovups ymm0, ymmword ptr [rdi]",
                      .leave = {"vzeroupper"}});
}

Kind zmm_load() {
  return vector_load("zmm-load", "avx512f", 64, Category::zmm_load,
                     {.instructions = {"vmovups (%rdi), %zmm0"},
                      .disassembly = "vmovups zmm0, zmmword ptr [rdi]",
                      .leave = {"vzeroupper"}});
}

}  // namespace skid::runway::kinds
