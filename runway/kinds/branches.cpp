// Branches: direct and conditional jumps.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <optional>
#include <string>
#include <string_view>

namespace skid::runway::kinds {

/// A jump to the first runway byte.
Kind branch_taken() {
  return {
      .name = "branch-taken",
      .x86_64 = KindCode{.instructions = {"jmp .Lrunway{n}"}, .disassembly = "jmp {}"},
      .aarch64 = KindCode{.instructions = {"b .Lrunway{n}"}, .disassembly = "b #{}"},
      .category = Category::branch,
      .effects = {{Counted::branches}, {Counted::taken_branches}},
  };
}

/// A conditional branch that is never taken.
Kind branch_not_taken() {
  return {
      .name = "branch-not-taken",
      // XOR clears the carry and fuses with no branch, where there is no lead-in.
      .x86_64 = KindCode{.instructions = {"jc .Lrunway{n}"},
                         .disassembly = "jb {}",
                         .head = Head{{{"xorl %eax, %eax"}}}},
      .aarch64 = KindCode{.instructions = {"b.cs .Lrunway{n}"},
                          .disassembly = "b.hs #{}",
                          .head = Head{{{"cmn xzr, xzr"}}}},
      .category = Category::branch,
      .effects = {{Counted::branches},
                  {Counted::conditional_branches},
                  {Counted::untaken_conditional_branches}},
  };
}

/// A conditional forward branch that is taken at random.
Kind branch_mispredict() {
  // Half of the branches go each way, and any prediction is wrong half of the time.
  const auto half = [](Counted counted) { return Effect{counted, 0.5, Verdict::conditional}; };
  return {
      .name = "branch-mispredict",
      // A step of xorshift64 (G. Marsaglia, Journal of Statistical Software 8, 2003), with a period
      // of 2^64 - 1, and one of its bits into the carry. BT fuses with no branch.
      .x86_64 = KindCode{.instructions = {"jc .Lrunway{n}"},
                         .disassembly = "jb {}",
                         .head = Head{{{"movq %r9, %rax", "shlq $13, %rax", "xorq %rax, %r9",
                                        "movq %r9, %rax", "shrq $7, %rax", "xorq %rax, %r9",
                                        "movq %r9, %rax", "shlq $17, %rax", "xorq %rax, %r9",
                                        "btq $40, %r9"}}},
                         .uses_up_head = true,
                         .enter = {"movq skid_state, %r9"},
                         .leave = {"movq %r9, skid_state"}},
      .aarch64 = KindCode{.instructions = {"b.ne .Lrunway{n}"},
                          .disassembly = "b.ne #{}",
                          .head = Head{{{"eor x11, x11, x11, lsl #13", "eor x11, x11, x11, lsr #7",
                                         "eor x11, x11, x11, lsl #17", "tst x11, #(1 << 40)"}}},
                          .uses_up_head = true,
                          .enter = {"adrp x11, skid_state", "ldr x11, [x11, :lo12:skid_state]"},
                          .leave = {"adrp x1, skid_state", "str x11, [x1, :lo12:skid_state]"}},
      // The predictor would learn a loop that began with the same number each time.
      .state = "0x9e3779b97f4a7c15",
      .category = Category::branch,
      .effects = {{Counted::branches},
                  {Counted::conditional_branches},
                  {Counted::taken_branches, 0.5, Verdict::conditional, true},
                  half(Counted::taken_conditional_branches),
                  half(Counted::taken_forward_conditional_branches),
                  half(Counted::untaken_conditional_branches),
                  half(Counted::mispredicted),
                  half(Counted::mispredicted_conditional),
                  {Counted::mispredicted_taken, kDepends, Verdict::conditional, true},
                  {Counted::mispredicted_taken_conditional, kDepends, Verdict::conditional},
                  {Counted::mispredicted_forward_conditional, kDepends, Verdict::conditional},
                  {Counted::mispredicted_untaken_conditional, kDepends, Verdict::conditional}},
  };
}

}  // namespace skid::runway::kinds
