// perf_event_attr.config as perf writes it, and its fields.
#pragma once

#include "src/events/cpu.h"
#include "src/events/event.h"

#include <cstdint>
#include <string>

namespace skid::events {

/// Bits of `config` that choose the event, without umask, edge, inv, cmask.
std::uint64_t event_select(ConfigLayout layout, std::uint64_t config);
/// 0 where a layout has no umask (Arm).
std::uint64_t unit_mask(ConfigLayout layout, std::uint64_t config);
/// Event and umask alone.
std::uint64_t without_modifiers(ConfigLayout layout, std::uint64_t config);

/// "cpu/event=0x2e,umask=0x41/"; a bit of `config` that no field holds gives "cpu/config=0x…/".
std::string perf_encoding(ConfigLayout layout, const Event& event);
/// "r412e"; empty where config1 is needed, which r cannot express.
std::string raw_encoding(const Event& event);

}  // namespace skid::events
