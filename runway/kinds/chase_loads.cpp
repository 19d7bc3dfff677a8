// Loads of a pointer chase that the level 2 cache, the level 3 cache, or memory serves.
#include "runway/kinds/kind.h"
#include "runway/trigger.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::runway::kinds {

namespace {

constexpr unsigned kLine = 64;
/// Intel's spatial prefetcher brings the other line of such a pair into level 2.
constexpr unsigned kLinePair = 2 * kLine;
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

Kind chase_load(std::string_view name, Chase chase, std::vector<Effect> effects) {
  return {
      .name = name,
      // No head: the trigger itself loads the next address.
      .x86_64 = KindCode{.instructions = {"movq (%rdi), %rdi"},
                         .disassembly = "mov rdi, qword ptr [rdi]",
                         .head = Head{},
                         .enter = {"movq skid_state, %rdi"},
                         .leave = {"movq %rdi, skid_state"}},
      .aarch64 = KindCode{.instructions = {"ldr x10, [x10]"},
                          .disassembly = "ldr x10, [x10]",
                          .head = Head{},
                          .enter = {"adrp x10, skid_state", "ldr x10, [x10, :lo12:skid_state]"},
                          .leave = {"adrp x1, skid_state", "str x10, [x1, :lo12:skid_state]"}},
      .widths = kPointer,
      .touches_datum = true,
      .chase = chase,
      .state = "skid_datum",
      .category = Category::gp_load,
      .effects = std::move(effects),
  };
}

}  // namespace

Kind load_l2() {
  return chase_load("load-l2", {MemoryLevel::l2, kLine, kMebibyte / 8},
                    {{Counted::loads}, {Counted::l1_misses}, {Counted::l2_hits}});
}

Kind load_l3() {
  return chase_load(
      "load-l3", {MemoryLevel::l3, kLinePair, 4 * kMebibyte},
      {{Counted::loads}, {Counted::l1_misses}, {Counted::l2_misses}, {Counted::l3_hits}});
}

Kind load_dram() {
  return chase_load("load-dram", {MemoryLevel::dram, kLinePair, 256 * kMebibyte},
                    {// Hundreds of cycles on any CPU: most of an iteration's.
                     {Counted::cycles, kDepends},
                     {Counted::loads},
                     {Counted::l1_misses},
                     {Counted::l2_misses},
                     {Counted::l3_misses},
                     // Caused where the memory is of the node that the target runs on.
                     {Counted::local_memory, kDepends, Verdict::conditional},
                     {Counted::cache_misses, kDepends}});
}

}  // namespace skid::runway::kinds
