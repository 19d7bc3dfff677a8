// Errata of Intel's specification updates that concern cache events, Ivy Bridge to Coffee Lake.
#pragma once

#include "src/events/cpu.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace skid::events {

struct Erratum {
  std::string_view ids;      ///< one for each product line: "SKL128, SKW118"
  std::string_view effect;   ///< a sentence without full stop
  bool of_one_mode = false;  ///< only while user mode or kernel mode alone is counted
  bool of_smt = false;       ///< only while the other thread of the core is online
};

/// `config`: perf_event_attr.config in Intel's layout. Collected by Hadi Brais ("An introduction to
/// the cache hit and miss performance monitoring events"). An empty answer does not mean that there
/// is none.
std::vector<Erratum> errata_of(Core core, std::uint64_t config);

}  // namespace skid::events
