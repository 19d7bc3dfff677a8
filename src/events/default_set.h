// The events that `record` records of a PMU when no event is named.
#pragma once

#include "runway/trigger.h"
#include "src/events/counted.h"
#include "src/instructions/counted.h"

#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {
struct CorePmu;
struct Machine;
}  // namespace skid::machine

namespace skid::events {

class Catalogue;
struct Event;

/// An event of the default set.
struct DefaultEvent {
  std::string_view stands_for;  ///< "a load", "a taken branch", "cycles"
  std::string name;             ///< readable name: "MEM_LOAD_RETIRED.L3_MISS", "cycles"
  std::string perf_event;       ///< argument of perf's -e at level 0
  runway::TriggerKind trigger{};
  Counted counted = Counted::other;
  std::vector<int> levels;  ///< precise levels that the machine takes for it, ascending
};

/// The events of a machine that are recorded by default.
struct DefaultSet {
  std::vector<DefaultEvent> events;  ///< none without a core PMU
  std::vector<std::string> notes;    ///< what was left out and why, a line each
};

/// Chooses the events of each of a machine's core PMUs for a load, an L3-missing load, a store, a
/// taken branch, a mispredicted branch and cycles, as raw events, so that perf need not know them.
/// AMD: what IBS does. If `catalogue` is null, none covers the CPU, and generic cycles and branches
/// are used.
DefaultSet default_set(const machine::Machine& machine, const Catalogue* catalogue);

/// Returns the PMU that events without one are recorded on: the performance cores' of a hybrid
/// machine; null if the machine has none.
const machine::CorePmu* main_core_pmu(const machine::Machine& machine);

/// Whether a PMU is of one kind of core of a hybrid x86 machine, "cpu_core": perf opens an event
/// without a PMU on all kinds.
bool is_of_hybrid(const machine::CorePmu& pmu);

/// Writes a raw event with its name for perf's -e: "cpu/config=0x20d1,name=X/". A name that perf
/// would not read as one is left out.
std::string raw_perf_event(const Event& event, std::string_view pmu);

}  // namespace skid::events
