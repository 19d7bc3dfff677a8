// A call of the first runway byte.
#include "runway/instructions.h"
#include "runway/kinds/kind.h"

namespace skid::runway::kinds {

Kind call() {
  return {
      .name = "call",
      .x86_64 = KindCode{.instructions = {"call .Lrunway{n}"},
                         .disassembly = "call {}",
                         .head = Head{{{switch_stack()}}},  // drops the return address
                         .enter = {"movq %rsp, %r9"},
                         .leave = {"movq %r9, %rsp"}},
      .touches_stack = true,
      .effects = {{Counted::branches},
                  {Counted::taken_branches},
                  {Counted::calls},
                  {Counted::stores, 1, Verdict::maybe}},  // of the return address
  };
}

}  // namespace skid::runway::kinds
