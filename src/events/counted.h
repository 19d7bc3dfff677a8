// What an event counts.
#pragma once

#include "src/instructions/counted.h"

#include <optional>

namespace skid::events {

struct Event;

using instructions::Counted;

/// Finds what an event counts by its name or one of its aliases. A code with modifiers (cmask, inv)
/// that no name has is `other`.
Counted counted_by(const Event& event);

/// Whether any instruction can be sampled for an event that counts this.
constexpr bool samples_any_instruction(Counted counted) {
  return counted == Counted::cycles || counted == Counted::instructions ||
         counted == Counted::any_instruction;
}

/// Names the instructions each of which causes one such event whenever it retires: `instructions`,
/// `loads`, `stores`, `branches`, `conditional_branches` (taken or not), or `taken_branches`, of
/// which only jumps that are always taken are certain. Calls and returns alone are not among them:
/// no two are in one block of code without another call.
///
/// The answer is by the name of an Intel event, or one of its aliases: it covers those that the
/// vendor defines as counts of retired instructions, and not of uops, hits, misses, mispredictions,
/// latencies or outcomes. nullopt for all others, for other vendors, and for a code with modifiers
/// (cmask, inv, edge), which no name has.
std::optional<Counted> caused_once_by(const Event& event);

/// Ranks how directly an event represents what it counts: of two events that count the same, the
/// one with the lower number is preferred.
int preference(const Event& event);

/// Returns the cache level that a load must miss to be counted; nullopt: the event does not depend
/// on a miss.
std::optional<int> missed_level(Counted counted);

}  // namespace skid::events
