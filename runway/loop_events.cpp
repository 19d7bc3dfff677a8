#include "runway/loop_events.h"

#include "runway/instructions.h"

#include <cstddef>

namespace skid::runway {

namespace {

std::size_t instructions_in(const Lines& lines) {
  std::size_t count = 0;
  for (const std::string& line : lines) count += line.ends_with(':') ? 0 : 1;
  return count;
}

/// Everything but the trigger: head, lead-in, runway and back-edge.
LoopEvents rest_of(const Specification& specification) {
  const Instructions code = instructions_of(specification);
  std::size_t head = code.head.empty() ? 1 : 0;  // the NOP that stands for it
  for (const HeadPiece& piece : code.head) head += instructions_in(piece.lines) - piece.skipped;
  // The farthest back-edges of aarch64 are one branch longer, the first of which is not taken.
  const std::size_t back_edge = instructions_in(code.back_edge);
  const double branches = static_cast<double>(back_edge) - 1;

  LoopEvents events;
  events.instructions =
      static_cast<double>(head + specification.lead_in_nops + specification.nops + back_edge);
  events.branches = branches;
  events.conditional_branches = 1;
  events.taken_branches = 1;
  return events;
}

/// What the kernel does in every iteration shows in the caches, and some CPUs count the way there
/// and back as branches.
void go_through_kernel(LoopEvents& events) {
  events.branches = events.taken_branches = events.mispredicted_branches = std::nullopt;
  events.l1_misses = events.l2_misses = events.l3_misses = std::nullopt;
}

}  // namespace

LoopEvents loop_events_of(const Specification& specification) {
  if (refusal(specification.trigger, specification.arch)) return {};
  LoopEvents events = rest_of(specification);
  const auto add = [](LoopEvents::Count& count, double more = 1) {
    if (count) *count += more;
  };
  add(events.instructions);
  switch (specification.trigger) {
    case TriggerKind::load_dram:
      add(events.l3_misses);
      [[fallthrough]];
    case TriggerKind::load_l3:
      add(events.l2_misses);
      [[fallthrough]];
    case TriggerKind::load_l2:
      add(events.l1_misses);
      [[fallthrough]];
    case TriggerKind::load:
    case TriggerKind::xmm_load:
    case TriggerKind::ymm_load:
    case TriggerKind::zmm_load:
    case TriggerKind::nt_load:  // of ordinary memory, where the hint is ignored
      add(events.loads);
      break;
    case TriggerKind::string_load:
      events.loads = std::nullopt;  // as one instruction or by repetitions, which CPUs differ in
      break;
    case TriggerKind::store:
    case TriggerKind::nt_store:
      add(events.stores);
      break;
    case TriggerKind::lock_rmw:
      add(events.loads);
      add(events.stores);
      add(events.locked_loads);
      break;
    case TriggerKind::prefetch:
    case TriggerKind::flush:
      events.loads = std::nullopt;  // CPUs differ in whether these count among the loads
      break;
    case TriggerKind::cpuid:
      // A hypervisor runs in the place of the instruction.
      go_through_kernel(events);
      break;
    case TriggerKind::div:
      add(events.divisions);
      break;
    case TriggerKind::branch_taken:
      add(events.branches);
      add(events.taken_branches);
      break;
    case TriggerKind::branch_not_taken:
      add(events.branches);
      add(events.conditional_branches);
      break;
    case TriggerKind::branch_mispredict:
      // Each direction half of the time, and whatever is predicted is wrong half of the time.
      add(events.branches);
      add(events.conditional_branches);
      add(events.taken_branches, 0.5);
      add(events.mispredicted_branches, 0.5);
      break;
    case TriggerKind::call:
      add(events.branches);
      add(events.taken_branches);
      add(events.calls);
      add(events.stores);  // the return address
      break;
    case TriggerKind::ret:
      // With the call in the head, which stores its return address, and the store that replaces
      // that. The predictor of returns knows the call and not the store.
      add(events.branches, 2);
      add(events.taken_branches, 2);
      add(events.calls);
      add(events.returns);
      add(events.mispredicted_branches);
      add(events.loads);
      add(events.stores, 2);
      break;
    case TriggerKind::fault:
      add(events.loads);
      add(events.page_faults);
      go_through_kernel(events);
      break;
    case TriggerKind::mfence:
    case TriggerKind::none:
      break;
  }
  return events;
}

}  // namespace skid::runway
