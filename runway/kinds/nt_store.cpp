// A store to the watched datum that bypasses the caches.
#include "runway/kinds/kind.h"

namespace skid::runway::kinds {

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
