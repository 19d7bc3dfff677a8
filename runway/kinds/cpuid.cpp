// A serializing instruction, which hypervisors intercept.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <optional>
#include <string>
#include <string_view>

namespace skid::runway::kinds {

Kind cpuid() {
  return {
      .name = "cpuid",
      .x86_64 = KindCode{.instructions = {"cpuid"},
                         .disassembly = "cpuid",
                         .head = Head{{{"xorl %eax, %eax", "xorl %ecx, %ecx"}}},
                         .uses_up_head = true,
                         .enter = {"movq %rbx, %r9"},
                         .leave = {"movq %r9, %rbx"}},
      .category = Category::cpuid,
      .is_doubtful_load = true,
      // Loads nothing; some CPUs count it as a load that misses.
      .effects = through_kernel({{Counted::loads, 0, Verdict::maybe},
                                 {Counted::l1_misses, kDepends, Verdict::maybe},
                                 {Counted::l2_misses, kDepends, Verdict::maybe},
                                 {Counted::cpuids}}),
  };
}

}  // namespace skid::runway::kinds
