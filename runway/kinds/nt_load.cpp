// A load with the hint that the datum is not used again, which ordinary memory ignores.
#include "runway/kinds/kind.h"

namespace skid::runway::kinds {

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
