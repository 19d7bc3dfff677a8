// What an event of a CPU counts.
#pragma once

#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/instructions/counted.h"

#include <string_view>

namespace skid::events {

using instructions::Counted;

/// By the event's name or one of its aliases; a code with modifiers (cmask, inv) that no name has
/// is `other`.
Counted counted_by(const Cpu& cpu, const Event& event);

/// What a generic event of perf counts on any CPU, by the name that perf gives it.
Counted counted_by_generic(std::string_view name);

/// How directly an event represents what it counts, best first: of two events that count the same,
/// the one with the lower number is the one to take.
int preference(const Cpu& cpu, const Event& event);

}  // namespace skid::events
