// Events that certain instructions cause exactly once whenever they retire.
#pragma once

#include "src/events/cpu.h"
#include "src/events/event.h"

#include <cstdint>
#include <optional>

namespace skid::events {

/// The instructions that each cause one event. Calls and returns alone are not among them: no two
/// are in one block of code without another call.
enum class OncePer : std::uint8_t {
  instruction,
  load,                ///< an instruction that loads
  store,               ///< an instruction that stores
  branch,              ///< of any kind, taken or not
  conditional_branch,  ///< taken or not
  taken_branch,        ///< of these only jumps that are always taken are certain
};

/// By the name of an event of Intel's, or one of its aliases: those that the vendor defines as
/// counts of retired instructions, and not of uops, hits, misses, mispredictions, latencies or
/// outcomes. nullopt for all others, for other vendors, and for a code with modifiers (cmask, inv,
/// edge), which no name has.
std::optional<OncePer> caused_once_by(const Cpu& cpu, const Event& event);

}  // namespace skid::events
