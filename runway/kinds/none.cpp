// The control: a NOP in place of the trigger.
#include "runway/kinds/kind.h"
#include "src/instructions/category.h"

#include <optional>
#include <string_view>

namespace skid::runway::kinds {

Kind none() {
  return {
      .name = "none",
      .x86_64 = KindCode{.instructions = {"{nop}"}, .disassembly = "nop"},
      .aarch64 = KindCode{.instructions = {"{nop}"}, .disassembly = "nop"},
      .category = Category::nop,
  };
}

}  // namespace skid::runway::kinds
