#include "runway/loop_events.h"

namespace skid::runway {

namespace {

/// Everything but the trigger: lead-in, runway, the loop's head and the two instructions of the
/// back-edge, of which the second branches.
LoopEvents rest_of(const Specification& specification) {
  LoopEvents events;
  const double head = specification.arch == Arch::x86_64 ? 1 : 2;
  events.instructions =
      static_cast<double>(specification.nops) + specification.lead_in_nops + head + 2;
  events.branches = 1;
  events.conditional_branches = 1;
  events.taken_branches = 1;
  return events;
}

void add(LoopEvents::Count& count, double more) {
  if (count) *count += more;
}

}  // namespace

LoopEvents loop_events_of(const Specification& specification) {
  LoopEvents events = rest_of(specification);
  add(events.instructions, 1);
  switch (specification.trigger) {
    case TriggerKind::load:
      add(events.loads, 1);
      break;
    case TriggerKind::store:
      add(events.stores, 1);
      break;
    case TriggerKind::branch_taken:
      add(events.branches, 1);
      add(events.taken_branches, 1);
      break;
    case TriggerKind::fault:
      add(events.loads, 1);
      add(events.page_faults, 1);
      // Some CPUs count the system call as a branch, and the kernel's work evicts what was cached.
      events.branches = events.taken_branches = events.mispredicted_branches = std::nullopt;
      events.instructions = std::nullopt;
      events.l1_misses = events.l2_misses = events.l3_misses = std::nullopt;
      break;
    default:  // none, and those that are refused
      break;
  }
  return events;
}

}  // namespace skid::runway
