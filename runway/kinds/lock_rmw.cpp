// An atomic read-modify-write of the watched datum.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace skid::runway::kinds {

Kind lock_rmw() {
  return {
      .name = "lock-rmw",
      .x86_64 = KindCode{.instructions = {"lock incb (%rdi)", "lock incw (%rdi)",
                                          "lock incl (%rdi)", "lock incq (%rdi)"},
                         .disassembly = "lock inc qword ptr [rdi]"},
      .widths = kWords,
      .touches_datum = true,
      .category = Category::locked_load,
      .effects = {{Counted::loads},
                  {Counted::locked_loads},
                  {Counted::l1_hits, 1, Verdict::maybe},
                  {Counted::stores}},
  };
}

}  // namespace skid::runway::kinds
