// A repeated string load over the watched datum.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace skid::runway::kinds {

Kind string_load() {
  return {
      .name = "string-load",
      .x86_64 = KindCode{.instructions = {"rep lodsb", "rep lodsw", "rep lodsl", "rep lodsq"},
                         .disassembly = "rep lodsq rax, qword ptr [rsi]",
                         .head = Head{{{"movl $skid_datum, %esi", "movl ${repetitions}, %ecx"}}},
                         .uses_up_head = true},
      .widths = kWords,
      .touches_datum = true,
      .repeats = true,
      .category = Category::str_load,
      .is_doubtful_load = true,
      // CPUs differ in whether this is one load, or one for each repetition.
      .effects = {{Counted::loads, kDepends}, {Counted::l1_hits, kDepends}},
  };
}

}  // namespace skid::runway::kinds
