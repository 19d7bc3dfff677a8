// What one iteration of a target causes: the counts that a hardware event is held against.
#pragma once

#include "runway/specification.h"

#include <optional>

namespace skid::runway {

/// Events of one whole iteration in user mode, the trigger and the rest of the loop together, and
/// each as instructions that retire. nullopt: it depends on the CPU, or on what the kernel does.
struct LoopEvents {
  using Count = std::optional<double>;
  Count instructions = 0;
  Count loads = 0;   ///< instructions that load, atomic read-modify-writes among them
  Count stores = 0;  ///< instructions that store, atomic read-modify-writes among them
  Count branches = 0;
  Count conditional_branches = 0;
  Count taken_branches = 0;
  Count calls = 0;
  Count returns = 0;
  Count mispredicted_branches = 0;  ///< in the long run, warm
  Count l1_misses = 0;              ///< loads that the level 1 data cache does not serve
  Count l2_misses = 0;              ///< of those, the ones that level 2 does not serve either
  Count l3_misses = 0;              ///< and those that come from memory
  Count locked_loads = 0;
  Count divisions = 0;
  Count page_faults = 0;

  friend bool operator==(const LoopEvents&, const LoopEvents&) = default;
};

/// What an iteration of this target should cause. Of a kind that is refused nothing is known.
LoopEvents loop_events_of(const Specification& specification);

}  // namespace skid::runway
