// Loads from the watched datum.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace skid::runway::kinds {

/// A load from the watched datum.
Kind load() {
  return {
      .name = "load",
      // Narrow loads widen, because a mov to part of a register would wait for the rest of it.
      .x86_64 = KindCode{.instructions = {"movzbl (%rdi), %eax", "movzwl (%rdi), %eax",
                                          "movl (%rdi), %eax", "movq (%rdi), %rax"},
                         .disassembly = "mov rax, qword ptr [rdi]"},
      .aarch64 = KindCode{.instructions = {"ldrb w1, [x10]", "ldrh w1, [x10]", "ldr w1, [x10]",
                                           "ldr x1, [x10]"},
                          .disassembly = "ldr x1, [x10]"},
      .widths = kWords,
      .touches_datum = true,
      .category = Category::gp_load,
      .effects = {{Counted::instructions}, {Counted::loads}, {Counted::l1_hits}},
  };
}

/// A load with the hint that the datum is not used again, which ordinary memory ignores.
Kind nt_load() {
  return {
      .name = "nt-load",
      .x86_64 = KindCode{.instructions = {"movntdqa (%rdi), %xmm0"},
                         .disassembly = "movntdqa xmm0, xmmword ptr [rdi]"},
      .cpu_flag = "sse4_1",
      .widths = {16},
      .touches_datum = true,
      .category = Category::nt_load,
      .effects = {{Counted::loads}, {Counted::l1_hits}},
  };
}

}  // namespace skid::runway::kinds
