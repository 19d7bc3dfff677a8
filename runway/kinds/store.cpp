// Stores to the watched datum.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace skid::runway::kinds {

/// A store to the watched datum.
Kind store() {
  return {
      .name = "store",
      .x86_64 = KindCode{.instructions = {"movb %al, (%rdi)", "movw %ax, (%rdi)",
                                          "movl %eax, (%rdi)", "movq %rax, (%rdi)"},
                         .disassembly = "mov qword ptr [rdi], rax"},
      .aarch64 = KindCode{.instructions = {"strb w1, [x10]", "strh w1, [x10]", "str w1, [x10]",
                                           "str x1, [x10]"},
                          .disassembly = "str x1, [x10]"},
      .widths = kWords,
      .touches_datum = true,
      .category = Category::store,
      .effects = {{Counted::stores}},
  };
}

/// A store to the watched datum that bypasses the caches.
Kind nt_store() {
  return {
      .name = "nt-store",
      .x86_64 = KindCode{.instructions = {"movnti %eax, (%rdi)", "movnti %rax, (%rdi)"},
                         .disassembly = "movnti qword ptr [rdi], rax"},
      .cpu_flag = "sse2",
      .widths = {4, 8},
      .touches_datum = true,
      .category = Category::store,
      .effects = {{Counted::stores}},
  };
}

}  // namespace skid::runway::kinds
