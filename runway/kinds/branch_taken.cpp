// A jump to the first runway byte.
#include "runway/kinds/kind.h"

namespace skid::runway::kinds {

Kind branch_taken() {
  return {
      .name = "branch-taken",
      .x86_64 = KindCode{.instructions = {"jmp .Lrunway{n}"}, .disassembly = "jmp {}"},
      .aarch64 = KindCode{.instructions = {"b .Lrunway{n}"}, .disassembly = "b #{}"},
      .category = Category::branch,
      .effects = {{Counted::branches}, {Counted::taken_branches}},
  };
}

}  // namespace skid::runway::kinds
