// The events that `record -e` takes: perf's, and the built-in ones whose skid is known; which of
// them a run records, at which levels and periods, with which trigger, on which CPU.
#pragma once

#include "runway/trigger.h"
#include "src/events/counted.h"
#include "src/instructions/counted.h"
#include "src/machine/machine.h"
#include "src/machine/sampled_event.h"
#include "src/run/perftool/event_name.h"
#include "src/run/perftool/record_command.h"
#include "src/support/names.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {
class Catalogue;
}  // namespace skid::events

namespace skid::machine {
struct CpuIdentity;
}  // namespace skid::machine

namespace skid::runway {
struct Specification;
struct TargetDescription;
}  // namespace skid::runway

namespace skid::record {

/// The kind of an event, which decides how it is recorded.
enum class EventKind {
  access,   ///< data breakpoint on the watched datum
  execute,  ///< execute breakpoint on the trigger
  faults,   ///< page faults
  clock,    ///< timers, whose period is in nanoseconds
  other,    ///< everything else that perf knows
};
/// The names of the built-in events.
SKID_NAMES(EventKind, "access", "execute", "faults", "cpu-clock", "other")

/// A requested event, split so that a precise level can be inserted.
struct RequestedEvent {
  EventKind kind = EventKind::other;
  std::string name;                   ///< "access", "cycles", "cpu/event=0xd1,umask=0x20/"
  std::string modifiers = {};         ///< perf's, without the precise level: "u"
  std::optional<int> own_level = {};  ///< level of an event requested with p's
  std::string perf_name = {};         ///< its name for perf; empty: `name`

  /// Whether perf chooses the level, by the modifier P: the highest that the kernel takes.
  bool perf_picks_level() const { return contains(modifiers, 'P'); }
  /// Returns the event as requested, without a level: "cycles:u".
  std::string text() const { return perftool::join_event_name({name, modifiers}); }
  /// Returns the event as requested, at a level: "cycles:upp", "cpu/event=0xd1,umask=0x20/upp".
  std::string at_level(int level) const { return perftool::event_at_level(name, modifiers, level); }
  /// Returns the argument of perf's -e on this target: "mem:0x403000/8:rw:upp".
  std::string for_perf(int level, const runway::TargetDescription& target) const {
    return perftool::event_at_level(
        perf_name.empty() ? perftool::perf_name_of(name, target) : perf_name, modifiers, level);
  }
};

/// Parses the values of -e, each one event or a list with commas. Throws ValueError for a text that
/// is no single event, for `P` beside p, and for one event named twice.
std::vector<RequestedEvent> parse_events(const std::vector<std::string>& arguments);

/// The choice of what to record.
struct PlanOptions {
  std::vector<std::string> events;             ///< -e, as given
  std::optional<std::vector<int>> levels;      ///< -p; nullopt: all levels
  std::optional<std::uint64_t> period;         ///< -c
  perftool::Extras extras;                     ///< -F, -g, -b, -j: how samples are taken
  std::optional<std::string> pmu;              ///< --pmu: PMU of events that name none
  std::optional<runway::TriggerKind> trigger;  ///< --trigger; nullopt: what the event needs
  std::optional<std::uint32_t> nops;
  std::optional<unsigned> nop_bytes;
  std::optional<unsigned> triggers;          ///< triggers in one iteration
  std::vector<std::uint32_t> gaps;           ///< NOPs between them
  std::optional<std::uint64_t> working_set;  ///< bytes; nullopt: what the level of the kind needs
  std::uint64_t samples = 5000;              ///< minimum per measurement
  std::optional<double> duration_seconds;    ///< instead of `samples`
  std::optional<std::uint64_t> iterations;   ///< iterations of the target, instead of `samples`
  int repeat = 1;
  bool vary_period = false;  ///< use another period in each of at least kPeriods repetitions
  std::optional<int> cpu;
  std::optional<std::filesystem::path> perfmon;  ///< directory of Intel's event files
  bool check_ip = false;        ///< record the tracepoint of page faults as a cross-check
  bool skid_in_events = false;  ///< record the counter's value in samples at level 0
};

/// An event with everything that the command line left open decided.
struct ChosenEvent {
  RequestedEvent event;
  std::vector<int> levels;
  runway::TriggerKind trigger{};
  std::uint64_t period = 0;
  events::Counted counted = events::Counted::other;  ///< what the catalogue says it counts
  int cpu = 0;                                       ///< CPU that the target is pinned to
  std::string erratum;  ///< erratum of the modes to be counted; may be empty
  /// Suggestions for a name that neither the catalogue nor perf has: "; did you mean …?", or an
  /// empty text.
  std::optional<std::string> near_names;
  /// The lowest level at which samples have the registers of the instruction that accessed their
  /// data address, at no cost but their size; nullopt: none.
  std::optional<int> registers_from;
  /// The kernel's answers for the levels 0 to 3; empty: it was not asked.
  std::vector<machine::LevelAnswer> answers;
};

/// Whether each trigger instruction causes one event, so that the number of iterations gives
/// theirs.
inline bool is_counted_by_iteration(EventKind kind) {
  return kind == EventKind::access || kind == EventKind::execute || kind == EventKind::faults;
}

/// Returns the PMU that an event names: "cpu_core" of "cpu_core/cycles/"; null: none.
inline const machine::CorePmu* named_pmu(std::string_view event, const machine::Machine& machine) {
  for (const machine::CorePmu& pmu : machine.core_pmus) {
    if (event.starts_with(pmu.name + "/")) return &pmu;
  }
  return nullptr;
}

/// Whether an event occurs in every cycle or instruction, some 10^10 times a second.
bool is_busy(const ChosenEvent& chosen);

/// Whether SPE is sampled.
inline bool is_of_spe(const ChosenEvent& chosen) {
  return chosen.event.name.starts_with("arm_spe_");
}

/// Whether IBS itself or SPE is sampled, which tag any operation: only samples that access the
/// trigger's data are judged.
inline bool is_tagged(const ChosenEvent& chosen) {
  return chosen.event.name.starts_with("ibs_op/") || is_of_spe(chosen);
}

/// Returns the name in the run of the target that an event is recorded with: "target.load", or
/// "target.load.short" for tagged operations, of which the trigger has to be one in few. With
/// --nops both are the former.
std::string target_file(const ChosenEvent& chosen, const PlanOptions& options);

/// Whether samples of the event would pass over some of an iteration: the events from one to the
/// next, with PEBS the period and one (analysis/basis.h), have a factor in common with those of an
/// iteration.
bool resonates(const ChosenEvent& chosen, const runway::Specification& specification);

/// Returns the period to use without -c. `triggers`: number in an iteration.
std::uint64_t default_period(const ChosenEvent& chosen, const machine::CpuIdentity& cpu,
                             std::size_t triggers);

/// Minimum number of periods with varied periods.
inline constexpr int kPeriods = 4;

/// Returns how often every event and level is recorded.
inline int repeats_of(const PlanOptions& options) {
  return options.vary_period ? std::max(options.repeat, kPeriods) : options.repeat;
}

/// Returns the period of each repetition: the chosen one, or that and further ones that do not
/// resonate, so that overflows are at other events of an iteration each time. `specification` is
/// that of the event's target.
std::vector<std::uint64_t> periods_of(const ChosenEvent& chosen, const PlanOptions& options,
                                      const runway::Specification& specification);

/// Returns the number of triggers in one iteration.
inline std::size_t triggers_of(const PlanOptions& options) {
  return options.triggers ? *options.triggers : options.gaps.size() + 1;
}

/// Chooses the events of the options, else the built-in ones, the default set of the CPU, and
/// cycles:P, which perf itself records by default. Decisions are explained in `notes`. `catalogue`
/// null: none covers the CPU. Throws ValueError and Error as resolve_request() does.
std::vector<ChosenEvent> choose_events(const PlanOptions& options, const machine::Machine& machine,
                                       const events::Catalogue* catalogue,
                                       std::vector<std::string>& notes);

/// Returns the CPU to pin an event's target to: --cpu, else the highest allowed CPU that has the
/// PMU the event names; for an event without a PMU one of the performance cores of a hybrid
/// machine. Throws Error if none is allowed.
int cpu_for(const PlanOptions& options, const RequestedEvent& event,
            const machine::Machine& machine);

}  // namespace skid::record
