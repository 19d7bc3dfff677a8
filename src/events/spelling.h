// How people, perf and perf_event_attr write one event.
#pragma once

#include "src/events/cpu.h"
#include "src/events/event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::events {

/// "skl::MEM_LOAD_RETIRED:L3_MISS", "mem_load_retired.l3_miss:pp", "cpu/event=0xd1,umask=0x20/pp",
/// "r20d1", "0x20d1": the rest after CPU, PMU and perf's modifiers are removed.
struct Spelling {
  std::string cpu;                      ///< before "::"; may be empty
  std::string name;                     ///< as written, without perf's modifiers
  std::string full;                     ///< as written, with what may be modifiers or an umask
  std::optional<std::uint64_t> config;  ///< a raw code
  std::uint64_t config1 = 0;            ///< only with a raw code, and of mem-loads; 0: not given
};

/// Throws UsageError for a term between slashes that cannot be read.
Spelling take_apart(std::string_view spelling, ConfigLayout layout);

/// Upper case, with '.' for ':': names that are equal but for their spelling compare equal.
std::string normalized(std::string_view name);

/// The code that the kernel takes for a generic hardware event of perf ("cycles", "cache-misses"):
/// arch/x86/events/intel/core.c, arch/x86/events/amd/core.c (Zen 2 and later) and
/// drivers/perf/arm_pmuv3.c. nullopt for other names.
std::optional<std::uint64_t> generic_event(ConfigLayout layout, std::string_view name);

/// Bits of `config` that choose the event, without umask, edge, inv, cmask.
std::uint64_t event_select(ConfigLayout layout, std::uint64_t config);
/// With UMaskExt in bits 15:8. 0 where a layout has no umask (Arm).
std::uint64_t unit_mask(ConfigLayout layout, std::uint64_t config);
/// Event and umask alone.
std::uint64_t without_modifiers(ConfigLayout layout, std::uint64_t config);

/// "cpu/event=0x2e,umask=0x41/"; a bit of `config` that no field holds gives "cpu/config=0x…/".
std::string perf_encoding(ConfigLayout layout, const Event& event);
/// "r412e"; empty where config1 is needed, which r cannot express.
std::string raw_encoding(const Event& event);

}  // namespace skid::events
