#include "runway/instructions.h"

#include <fmt/format.h>

namespace skid::runway {

namespace {

constexpr unsigned kNopBytes = 4;
/// A conditional branch reaches 1 MiB backwards; a little less, for the code around.
constexpr std::uint64_t kConditionalReach = (1U << 20) - 1024;

std::string trigger_of(const Specification& specification) {
  const unsigned bytes = specification.access_bytes;
  const char* const suffix = bytes == 1 ? "b" : bytes == 2 ? "h" : "";
  const char* const reg = bytes == 8 ? "x1" : "w1";
  switch (specification.trigger) {
    case TriggerKind::load:
    case TriggerKind::fault:
      return fmt::format("ldr{} {}, [x10]", suffix, reg);
    case TriggerKind::store:
      return fmt::format("str{} {}, [x10]", suffix, reg);
    case TriggerKind::div:
      return "udiv x1, x2, x3";
    case TriggerKind::branch_taken:
      return "b .Lrunway";
    default:  // none, and those that are refused
      return "nop";
  }
}

std::vector<HeadPiece> head_of(const Specification& specification) {
  const Lines point{"adrp x10, skid_datum", "add x10, x10, :lo12:skid_datum"};
  switch (specification.trigger) {
    case TriggerKind::div:
      // Many bits between dividend and divisor: the division takes as long as one can.
      return {{{"mov x2, #-1", "mov x3, #3"}}};
    case TriggerKind::fault:
      // The kernel works for microseconds behind the system call, and what happens there is charged
      // to it or to the instruction that it returns to.
      return {{point},
              {{"mov x0, x10", fmt::format("mov x1, #{}", kDatumPageBytes),
                fmt::format("mov x2, #{}", kMadviseDontNeed), "mov x8, #233"}},
              {{"svc #0", point[0], point[1]}, true}};
    default:
      return {{point}};
  }
}

}  // namespace

Instructions aarch64_instructions(const Specification& specification) {
  Instructions code;
  code.enter = {"mov x9, x0"};
  code.jump = "br x1";
  code.head = head_of(specification);
  code.trigger = trigger_of(specification);
  code.nop = "nop";
  const std::uint64_t nops =
      std::uint64_t{specification.lead_in_nops} + std::uint64_t{specification.nops};
  code.back_edge = {"subs x9, x9, #1"};
  if (nops * kNopBytes < kConditionalReach) {
    code.back_edge.emplace_back("b.ne .Lloop");
  } else {
    code.back_edge.emplace_back("b.eq .Lloop_end");
    code.back_edge.emplace_back("b .Lloop");
  }
  code.back_edge_is_other_trigger = specification.trigger == TriggerKind::branch_taken;
  return code;
}

}  // namespace skid::runway
