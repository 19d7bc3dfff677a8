// How people, perf and perf_event_attr write an event.
#pragma once

#include "src/events/cpu.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::events {

struct Event;

/// The parts of an event's spelling: "skl::MEM_LOAD_RETIRED:L3_MISS",
/// "mem_load_retired.l3_miss:pp", "cpu/event=0xd1,umask=0x20/pp", "cpu_core/cycles:pp/",
/// "cpu/mem-loads,ldlat=30,name=x/", "r20d1", "0x20d1". CPU, PMU and perf's modifiers are separated
/// from the name or code.
struct Spelling {
  std::string cpu;                      ///< part before "::"; may be empty
  std::string pmu;                      ///< part before the slash; may be empty
  std::string name;                     ///< name as written, without perf's modifiers
  std::string full;                     ///< name as written, with what may be modifiers or an umask
  std::optional<std::uint64_t> config;  ///< a raw code
  std::uint64_t config1 = 0;            ///< 0: not given
  std::string problem;                  ///< why the text is no spelling of an event; empty: it is
};

/// Parses a spelling. Terms of PMUs that are not of cores ("ibs_op/cnt_ctl=1/") are part of the
/// name.
Spelling parse_spelling(std::string_view spelling, ConfigLayout layout);

/// Converts a name to upper case, with '.' for ':': names that are equal but for their spelling
/// compare equal.
std::string normalized(std::string_view name);

/// Extracts the bits of `config` that choose the event, without umask, edge, inv, cmask.
std::uint64_t event_select(ConfigLayout layout, std::uint64_t config);
/// Extracts the umask, with UMaskExt in bits 15:8; 0 where a layout has no umask (Arm).
std::uint64_t unit_mask(ConfigLayout layout, std::uint64_t config);
/// Reduces `config` to event and umask.
std::uint64_t without_modifiers(ConfigLayout layout, std::uint64_t config);

/// Writes an event as "cpu/event=0x2e,umask=0x41/"; a bit of `config` that no field holds gives
/// "cpu/config=0x…/".
std::string perf_encoding(const Event& event);
/// Writes an event as "r412e"; empty where config1 is needed, which r cannot express.
std::string raw_encoding(const Event& event);

}  // namespace skid::events
