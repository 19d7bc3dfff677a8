// What events count of the effects of single instructions, and whether an instruction causes an
// event.
#pragma once

#include "src/support/names.h"

namespace skid::instructions {

/// What an event counts: events that a single instruction can be made to cause, and those that any
/// instruction causes; all others are `other`.
enum class Counted {
  other,
  cycles,           ///< core cycles, without halted ones
  instructions,     ///< retired instructions, or their micro-ops
  any_instruction,  ///< some instructions, NOPs included, selected by how they are fetched or
                    ///< retired
  loads,            ///< retired loads; on AMD and Arm dispatched ones
  locked_loads,
  l1_hits,  ///< loads that the L1 served
  l2_hits,
  l3_hits,
  l1_misses,  ///< loads that missed the L1
  l2_misses,
  l3_misses,
  local_memory,  ///< loads that the memory of the same node served
  cache_misses,  ///< misses of the last level, by any requester: loads, stores, code, prefetchers
  split_loads,   ///< loads that cross the boundary of a cache line
  stores,
  split_stores,  ///< stores that cross the boundary of a cache line
  splits,        ///< loads and stores that cross it
  branches,
  conditional_branches,
  taken_conditional_branches,
  taken_forward_conditional_branches,
  taken_backward_conditional_branches,
  untaken_conditional_branches,
  taken_branches,
  calls,
  returns,
  mispredicted,
  mispredicted_conditional,
  mispredicted_taken_conditional,
  mispredicted_forward_conditional,   ///< taken ones
  mispredicted_backward_conditional,  ///< taken ones
  mispredicted_untaken_conditional,
  mispredicted_taken,
  mispredicted_returns,
  divisions,
  float_divisions,  ///< divisions of floating-point numbers alone
  repetitions,      ///< of string instructions
  divider_uops,
  divider_cycles,
  prefetches,  ///< software prefetches into all levels
  flushes,
  cpuids,
};

/// Whether an instruction causes an event. Only `never` contradicts a sample.
enum class Verdict {
  can,          ///< every such instruction causes the event
  conditional,  ///< causes it if the access has the counted outcome: a hit, a miss
  maybe,        ///< was observed; no rule is known
  unknown,      ///< no source describes it
  never,
};
SKID_NAMES(Verdict, "can", "conditional", "maybe", "unknown", "never")

}  // namespace skid::instructions
