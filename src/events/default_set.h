// The default events of a CPU: what `record` records of its PMU when no event is named.
#pragma once

#include "runway/specification.h"
#include "src/events/catalogue.h"
#include "src/events/event.h"
#include "src/machine/machine.h"

#include <string>
#include <string_view>
#include <vector>

namespace skid::events {

struct DefaultEvent {
  std::string_view stands_for;  ///< "a load", "a taken branch", "cycles"
  std::string name;             ///< readable: "MEM_LOAD_RETIRED.L3_MISS", "cycles"
  std::string perf_event;       ///< as perf's -e takes it, without modifiers
  runway::TriggerKind trigger{};
  Counted counted = Counted::other;
  std::vector<int> levels;  ///< precise levels that the machine takes for it, ascending
};

struct DefaultSet {
  std::vector<DefaultEvent> events;  ///< none without a core PMU
  std::vector<std::string> notes;    ///< what was left out and why, a line each
};

/// The events of each of a machine's core PMUs for a load, an L3-missing load, a store, a taken
/// branch, a mispredicted branch and cycles, as raw events, so that perf need not know them. AMD:
/// what IBS does. `catalogue` null: none covers the CPU, and generic cycles and branches are used.
DefaultSet default_set(const machine::Machine& machine, const Catalogue* catalogue);

/// perf's own events that any CPU may have, at all levels: for a CPU of which nothing is
/// known but the architecture of `machine`.
DefaultSet any_cpu_set(const machine::Machine& machine);

/// The PMU that events without one are recorded on: the performance cores' of a hybrid machine;
/// null if the machine has none.
const machine::CorePmu* main_core_pmu(const machine::Machine& machine);

/// Of one kind of core of a hybrid x86 machine, "cpu_core": perf opens an event without a PMU on
/// all kinds.
bool is_of_hybrid(const machine::CorePmu& pmu);

/// A raw event with its name, as perf's -e takes it: "cpu/config=0x20d1,name=X/". A name that perf
/// would not read as one is left out.
std::string raw_perf_event(const Event& event, std::string_view pmu);

}  // namespace skid::events
