// What an event counts, in the terms of what one instruction can do.
#pragma once

#include "src/events/cpu.h"
#include "src/events/event.h"

#include <string_view>

namespace skid::events {

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
  cache_misses,  ///< of the last level, whoever asked: loads, stores, code, prefetchers
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

/// By the event's name or one of its aliases; a code with modifiers (cmask, inv) that no name has
/// is `other`.
Counted counted_by(const Cpu& cpu, const Event& event);

/// What a generic event of perf counts on any CPU, by the name that perf gives it.
Counted counted_by_generic(std::string_view name);

/// How directly an event stands for what it counts, best first: of two events that count the same,
/// the one with the lower number is the one to take.
int preference(const Cpu& cpu, const Event& event);

/// "loads that miss the L3"; empty for `other`.
std::string_view name_of(Counted counted);

}  // namespace skid::events
