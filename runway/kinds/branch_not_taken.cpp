// A conditional branch that is never taken.
#include "runway/kinds/kind.h"

namespace skid::runway::kinds {

Kind branch_not_taken() {
  return {
      .name = "branch-not-taken",
      // XOR clears the carry and fuses with no branch, where there is no lead-in.
      .x86_64 = KindCode{.instructions = {"jc .Lrunway{n}"},
                         .disassembly = "jb {}",
                         .head = Head{{{"xorl %eax, %eax"}}}},
      .category = Category::branch,
      .effects = {{Counted::branches},
                  {Counted::conditional_branches},
                  {Counted::untaken_conditional_branches}},
  };
}

}  // namespace skid::runway::kinds
