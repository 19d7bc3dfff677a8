// An integer division of registers.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <optional>
#include <string>
#include <string_view>

namespace skid::runway::kinds {

Kind div() {
  return {
      .name = "div",
      // The high half of the dividend is not 0 and below the divisor: the slow path of CPUs that
      // have a fast one, and no overflow.
      .x86_64 = KindCode{.instructions = {"divq %rcx"},
                         .disassembly = "div rcx",
                         .head = Head{{{"movabsq $0x0123456789abcdef, %rdx",
                                        "movabsq $0x0fedcba987654321, %rax",
                                        "movabsq $0xfedcba9876543211, %rcx"}}},
                         .uses_up_head = true},
      // Many bits between dividend and divisor: the division takes as long as one can.
      .aarch64 = KindCode{.instructions = {"udiv x1, x2, x3"},
                          .disassembly = "udiv x1, x2, x3",
                          .head = Head{{{"mov x2, #-1", "mov x3, #3"}}}},
      .category = Category::div,
      // As many cycles and micro-ops as the CPU takes: 20 to 90 cycles on older ones, 10 to 18 on
      // newer.
      .effects = {{Counted::cycles, kDepends},
                  {Counted::divisions},
                  {Counted::divider_uops, kDepends},
                  {Counted::divider_cycles, kDepends}},
  };
}

}  // namespace skid::runway::kinds
