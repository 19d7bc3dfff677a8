// Which trigger of a target causes which event, and how often an iteration does.
#pragma once

#include "runway/specification.h"
#include "src/events/causes.h"
#include "src/events/cpu.h"
#include "src/events/event.h"

#include <optional>
#include <vector>

namespace skid::events {

struct TriggerCause {
  runway::TriggerKind kind{};
  /// can: each iteration; conditional: where the access goes that way; maybe: on some CPUs.
  Verdict verdict = Verdict::can;
  /// Of the whole loop of a target as it is built by default; nullopt: it depends.
  std::optional<double> events_per_iteration;
};

/// The kinds of trigger that cause an event, best suited first; empty where no kind does or nothing
/// is known of the event.
std::vector<TriggerCause> triggers_of(const Cpu& cpu, const Event& event);

/// Whether a kind causes what an event counts, on one CPU or another. False for `other`.
bool may_cause(runway::TriggerKind kind, Counted counted);

/// Those that may, of the kinds of an architecture, best suited first.
std::vector<runway::TriggerKind> kinds_causing(Counted counted, Arch arch);

/// The kind to record an event with: the first of triggers_of() that targets for the CPU's
/// architecture can be built with.
std::optional<runway::TriggerKind> best_trigger(const Cpu& cpu, const Event& event);

/// How many of these events an iteration of a target should cause, its trigger and the rest of the
/// loop together; nullopt: it depends, or nothing is known of the event.
std::optional<double> expected_events(const Cpu& cpu, const Event& event,
                                      const runway::Specification& specification);

/// The level of the caches that a load must miss to be counted; nullopt: it does not depend on
/// that.
std::optional<int> missed_level(Counted counted);

/// The architecture that a CPU's targets are built for.
Arch arch_of(const Cpu& cpu);

}  // namespace skid::events
