// A prefetch of the watched datum.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <optional>
#include <string_view>

namespace skid::runway::kinds {

Kind prefetch() {
  return {
      .name = "prefetch",
      .x86_64 = KindCode{.instructions = {"prefetcht0 (%rdi)"},
                         .disassembly = "prefetcht0 byte ptr [rdi]"},
      .cpu_flag = "sse",
      .prefetches_datum = true,
      .category = Category::prefetch,
      .is_doubtful_load = true,
      .effects = {{Counted::loads, kDepends, Verdict::maybe},
                  {Counted::l1_hits, kDepends, Verdict::maybe},
                  {Counted::prefetches}},
  };
}

}  // namespace skid::runway::kinds
