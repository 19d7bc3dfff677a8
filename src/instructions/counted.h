// What events count, in terms of what one instruction can do, and whether an instruction causes
// them.
#pragma once

#include <string_view>

namespace skid::instructions {

/// Only events that a single instruction can be made to cause, and those that any instruction
/// causes; all others are `other`.
enum class Counted {
  other,
  cycles,           ///< of the core, halted ones left out
  instructions,     ///< retired ones, or their micro-ops
  any_instruction,  ///< some of those, by how they were fetched or retired: NOPs as well as others
  loads,            ///< retired ones; on AMD and Arm the ones that were dispatched
  locked_loads,
  l1_hits,  ///< loads by the level that served them
  l2_hits,
  l3_hits,
  l1_misses,  ///< loads by a level that did not have the line
  l2_misses,
  l3_misses,
  local_memory,  ///< loads that the memory of the same node served
  cache_misses,  ///< of the last level, by any requester: loads, stores, code, prefetchers
  stores,
  branches,
  conditional_branches,
  taken_conditional_branches,
  untaken_conditional_branches,
  taken_branches,
  calls,
  returns,
  mispredicted,
  mispredicted_conditional,
  mispredicted_taken_conditional,
  mispredicted_untaken_conditional,
  mispredicted_taken,
  mispredicted_returns,
  divisions,
  divider_uops,
  divider_cycles,
  prefetches,  ///< software ones into all levels
  flushes,
  cpuids,
};

/// "loads that miss the L3"; empty for `other`.
std::string_view name_of(Counted counted);

/// Only `never` may accuse a sample.
enum class Verdict {
  can,          ///< every such instruction causes the event
  conditional,  ///< it does where the access goes that way (hits there, misses there)
  maybe,        ///< observed, without a known rule
  unknown,      ///< no source describes it
  never,
};

/// "conditional".
std::string_view name_of(Verdict verdict);

}  // namespace skid::instructions
