// Calls and returns.
#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "src/instructions/counted.h"

#include <optional>
#include <string>
#include <string_view>

namespace skid::runway::kinds {

/// A call of the first runway byte.
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

/// A return to the first runway byte.
Kind ret() {
  return {
      .name = "ret",
      // The call leaves its own return address to the predictor of returns, and in memory the
      // address of the runway replaces it: each RET is mispredicted, and the predictor's stack
      // stays balanced. The predicted path begins with INT3. Without it the call would be of the
      // next instruction, which CPUs keep out of that predictor (measured: nothing is mispredicted
      // then).
      .x86_64 =
          KindCode{.instructions = {"ret"},
                   .disassembly = "ret",
                   .head = Head{{{switch_stack()}},
                                {{"call .Lpushed{n}"}, true},
                                {{"int3", ".Lpushed{n}:", "movq $.Lrunway{n}, (%rsp)"}, false, 1}},
                   .uses_up_head = true,
                   .enter = {"movq %rsp, %r9"},
                   .leave = {"movq %r9, %rsp"}},
      .touches_stack = true,
      .is_doubtful_load = true,
      // With the call in the head, which stores its return address, and the store that replaces it.
      .effects = {{Counted::loads, 1, Verdict::maybe},
                  {Counted::l1_hits, 1, Verdict::never},
                  {Counted::stores, 2, Verdict::never},
                  {Counted::branches, 2},
                  {Counted::taken_branches, 2},
                  {Counted::calls, 1, Verdict::never},
                  {Counted::returns},
                  {Counted::mispredicted},
                  {Counted::mispredicted_returns},
                  {Counted::mispredicted_taken, kDepends}},
  };
}

}  // namespace skid::runway::kinds
