// The ways in which people write one event, taken apart.
#pragma once

#include "src/events/cpu.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::events {

/// "skl::MEM_LOAD_RETIRED:L3_MISS", "mem_load_retired.l3_miss:pp", "cpu/event=0xd1,umask=0x20/pp",
/// "r20d1", "0x20d1": what is left when CPU, PMU and modifiers of perf are gone.
struct Spelling {
  std::string cpu;                      ///< before "::"; may be empty
  std::string name;                     ///< as written, without perf's modifiers
  std::string full;                     ///< as written, with what may be modifiers or an umask
  std::optional<std::uint64_t> config;  ///< a raw code
  std::uint64_t config1 = 0;            ///< only with a raw code
};

/// Throws UsageError for a term between slashes that cannot be read.
Spelling take_apart(std::string_view spelling, ConfigLayout layout);

/// Upper case, with '.' for ':': names that are equal but for their spelling compare equal.
std::string normalized(std::string_view name);

/// The code that the kernel takes for a generic hardware event of perf ("cycles", "cache-misses"):
/// arch/x86/events/intel/core.c, arch/x86/events/amd/core.c (Zen 2 and later) and
/// drivers/perf/arm_pmuv3.c. nullopt for other names.
std::optional<std::uint64_t> generic_event(ConfigLayout layout, std::string_view name);

}  // namespace skid::events
