// The parts of a precise level that depend on the CPU and the event.
#pragma once

#include "src/support/names.h"

#include <cstdint>

namespace skid {

/// The precise level that requests a constant skid.
inline constexpr int kConstantSkid = 1;

/// The meaning of a sample's PERF_RECORD_MISC_EXACT_IP.
enum class ExactIp : std::uint8_t {
  unknown,   ///< the CPU is not known
  evidence,  ///< set where the address of this sample was corrected or reported as valid
  request,   ///< set on every record of a level: it repeats what was requested
  never,     ///< not set for this event at any level
};

/// The meaning of precise level 3 of an event on a CPU.
enum class LevelThree : std::uint8_t {
  unknown,
  distinct,         ///< precise distribution (PDIR, PDist)
  same_as_level_2,  ///< no counter has precise distribution for this event
  refused,          ///< the kernel refuses level 3 of the event
  reduced_skid,     ///< Atom: other counters than at level 2, with less skid
};

// Their names in JSON; null for `unknown`.
SKID_NAMES(ExactIp, "unknown", "evidence", "request", "never")
SKID_NAMES(LevelThree, "unknown", "distinct", "same as level 2", "refused", "reduced skid")

}  // namespace skid
