// Which instructions, and which triggers of targets, cause an event.
#pragma once

#include "runway/trigger.h"
#include "src/events/counted.h"
#include "src/events/cpu.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/support/address.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace skid::runway {
struct Specification;
}  // namespace skid::runway

namespace skid::events {

struct Event;

using instructions::Categories;
using instructions::Category;
using instructions::name_of;
using instructions::Verdict;

/// Whether the instructions of a category cause an event.
struct Cause {
  Category category;
  Verdict verdict;
  std::string_view note;  ///< "at most 1 event"; may be empty
};

/// Returns a verdict for each category of x86-64 instructions, in their order: what was measured
/// (measured_causes), and otherwise what the event's names define (causes_by_name). If a code has
/// several names, the first of their verdicts holds, so that `never` takes all of them.
std::vector<Cause> causes_of(const Event& event);

/// Returns the measured verdicts of causes_of(). `config`: perf_event_attr.config in Intel's
/// layout, with event and umask alone. Load events on Ivy Bridge to Coffee Lake are from Hadi
/// Brais, "An introduction to the cache hit and miss performance monitoring events". Its list "is
/// not necessarily complete": what it does not mention is `unknown`. It leaves out accesses that
/// cross a cache line.
std::vector<Cause> measured_causes(Core core, std::uint64_t config);

/// Returns the verdicts that the name of an event defines, in the order of
/// instructions::kCategories; all of them `unknown` where `name` belongs to no family.
/// docs/events.md lists the families. `name` is spelled as Intel's event files and libpfm4 write
/// it, in any case.
///
/// The names and their meaning are from the descriptions in Intel's event files, Nehalem to Nova
/// Lake. `never` is said only where the definition leaves no other reading: what the descriptions
/// of one core count and those of another leave open (software prefetches) is `maybe`.
std::vector<Cause> causes_by_name(std::string_view name);

/// Returns the verdict on an instruction that is in all of `categories`: the first of can,
/// conditional, maybe, unknown and never that one of them has, so that `never` takes all of them.
/// `causes`: result of causes_of(). The verdict is `unknown` without a category or knowledge of the
/// core or event.
Verdict verdict_on(std::span<const Cause> causes, const Categories& categories);

/// Returns the unit that a load event counts: "uops" on Ivy Bridge to Broadwell, "instructions" on
/// Skylake to Coffee Lake; empty for other events and cores.
std::string_view counting_unit(const Event& event);

/// Returns whether the trigger of a kind causes an event: in each iteration (can), where the access
/// goes that way (conditional), or on some CPUs (maybe). `never`, too, where nothing is known of
/// the event, or the kind cannot be built for its architecture.
Verdict verdict_on(const Event& event, runway::TriggerKind trigger);

/// A kind of trigger that causes an event.
struct TriggerCause {
  runway::TriggerKind kind{};
  Verdict verdict = Verdict::can;
  /// Number for the whole loop of a target that is built by default; nullopt: it depends.
  std::optional<double> events_per_iteration;
};

/// Lists the kinds of trigger that cause an event, best suited first; empty where no kind does or
/// nothing is known of the event.
std::vector<TriggerCause> triggers_of(const Event& event);

/// Lists the kinds of an architecture that cause what an event counts, on one CPU or another, best
/// suited first.
std::vector<runway::TriggerKind> kinds_causing(Counted counted, Arch arch);

/// Returns the kind to record an event with: the first of triggers_of() that targets for the CPU's
/// architecture can be built with.
std::optional<runway::TriggerKind> best_trigger(const Event& event);

/// Returns how many of these events an iteration of a target should cause, its trigger and the rest
/// of the loop together; nullopt: it depends, or nothing is known of the event.
std::optional<double> expected_events(const Event& event,
                                      const runway::Specification& specification);

}  // namespace skid::events
