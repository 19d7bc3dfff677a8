// A flush of the watched datum's line out of all caches.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <optional>
#include <string_view>

namespace skid::runway::kinds {

Kind flush() {
  return {
      .name = "flush",
      .x86_64 =
          KindCode{.instructions = {"clflush (%rdi)"}, .disassembly = "clflush byte ptr [rdi]"},
      .cpu_flag = "clflush",
      .touches_datum = true,
      .category = Category::flush,
      .is_doubtful_load = true,
      .effects = {{Counted::loads, kDepends, Verdict::never},
                  {Counted::l1_hits, kDepends, Verdict::never},
                  {Counted::flushes}},
  };
}

}  // namespace skid::runway::kinds
