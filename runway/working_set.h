// How much memory a pointer chase has to go through for a level of the memory to serve it.
#pragma once

#include "runway/trigger.h"

#include <cstdint>
#include <string>

namespace skid::runway {

/// Bytes of the data or unified caches that one CPU uses, and of all memory; 0: none, or not
/// known.
struct MemorySizes {
  std::uint64_t l1 = 0, l2 = 0, l3 = 0, memory = 0;
};

struct WorkingSet {
  std::uint64_t bytes = 0;  ///< for Specification::working_set_bytes; 0 for kinds without a chase
  std::string refusal;  ///< why no size is suitable on this machine, or empty; `bytes` is 0 then
  std::string remark;   ///< what to know of the size, for people; may be empty
};

/// The working set of a trigger kind. Where the level 2 cache is not known the one that
/// default_specification gives, with a remark.
///
/// A level is missed reliably only by several times its size, because caches do not evict what was
/// used least recently alone: a random one that is gone through in a cycle, and holds 1/n of it,
/// hits by a share h = exp(-n (1-h)), which is 20% for n = 2, 2% for 4 and 0.04% for 8. So:
///   load-l2    half the level 2 cache;
///   load-l3    16 times level 2, of which the elements take half of the lines, or half of level 3
///              where that is less, but no less than 4 times level 2;
///   load-dram  8 times the last level, of which the elements take half of the lines, or a quarter
///              of memory where that is less, but no less than 4 times the last level.
WorkingSet working_set_for(TriggerKind kind, const MemorySizes& sizes);

/// "2080 MiB", "384 KiB", "100 bytes".
std::string size_text(std::uint64_t bytes);

}  // namespace skid::runway
