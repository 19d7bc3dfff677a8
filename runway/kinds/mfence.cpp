// A memory fence.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <optional>
#include <string_view>

namespace skid::runway::kinds {

Kind mfence() {
  return {
      .name = "mfence",
      .x86_64 = KindCode{.instructions = {"mfence"}, .disassembly = "mfence"},
      .cpu_flag = "sse2",
      .category = Category::mfence,
      .is_doubtful_load = true,
      // Loads nothing; some CPUs count it as a load that misses.
      .effects = {{Counted::loads, 0, Verdict::maybe},
                  {Counted::l1_misses, 0, Verdict::maybe},
                  {Counted::l2_misses, 0, Verdict::maybe}},
  };
}

}  // namespace skid::runway::kinds
