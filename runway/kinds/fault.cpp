// The first touch of a page that each iteration gives back to the kernel.
#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "src/instructions/counted.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::runway::kinds {

Kind fault() {
  // A load, which maps the page of zeros: no page has to be cleared.
  Kind kind = load();
  kind.name = "fault";
  kind.gives_back_page = true;
  kind.is_doubtful_load = true;
  kind.effects = through_kernel({{Counted::loads}});
  // The kernel works for microseconds after the system call. Events meanwhile are charged to the
  // call or to the instruction that it returns to: both are other triggers.
  kind.x86_64->head = Head{{{"movl $skid_datum, %edi"}},
                           {{fmt::format("movl ${}, %esi", kDatumPageBytes),
                             fmt::format("movl ${}, %edx", kMadviseDontNeed), "movl $28, %eax"}},
                           {{"syscall", "movl $skid_datum, %edi"}, true}};
  kind.x86_64->uses_up_head = true;
  const Lines point{"adrp x10, skid_datum", "add x10, x10, :lo12:skid_datum"};
  kind.aarch64->head = Head{{point},
                            {{"mov x0, x10", fmt::format("mov x1, #{}", kDatumPageBytes),
                              fmt::format("mov x2, #{}", kMadviseDontNeed), "mov x8, #233"}},
                            {{"svc #0", point[0], point[1]}, true}};
  kind.aarch64->uses_up_head = true;
  return kind;
}

}  // namespace skid::runway::kinds
