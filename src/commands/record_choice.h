// Which events a run records: at which levels and periods, with which trigger, on which CPU.
#pragma once

#include "runway/trigger.h"
#include "src/commands/record_event.h"
#include "src/commands/record_options.h"
#include "src/events/catalogue.h"
#include "src/events/counted.h"
#include "src/machine/machine.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace skid::commands {

/// An event with everything that the command line left open decided.
struct ChosenEvent {
  RequestedEvent event;
  std::vector<int> levels;
  runway::TriggerKind trigger = runway::TriggerKind::load;
  std::uint64_t period = 0;
  events::Counted counted = events::Counted::other;  ///< what the catalogue says of it
};

/// The events of one trigger instruction each, whose number follows from the iterations.
bool is_counted_by_iteration(EventKind kind);

/// An event that comes with every cycle or instruction, some 10^10 times a second.
bool is_busy(const ChosenEvent& chosen);

/// Triggers in one iteration.
std::size_t triggers_of(const PlanOptions& options);

/// Those that the options name, else the built-in ones and those that stand for the CPU. What was
/// decided for people to know goes to `notes`. `catalogue` null: none covers the CPU. Throws
/// UsageError and Error as resolve_request() does.
std::vector<ChosenEvent> choose_events(const PlanOptions& options, const machine::Machine& machine,
                                       const events::Catalogue* catalogue,
                                       std::vector<std::string>& notes);

/// The CPU to pin to: as asked, or the highest one allowed that has the PMUs which the events name.
int choose_cpu(const PlanOptions& options, const std::vector<ChosenEvent>& events,
               const machine::Machine& machine);

}  // namespace skid::commands
