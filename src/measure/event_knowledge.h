// Which event was recorded, perhaps on another machine, whether it is the requested one, what the
// catalogue of events knows of it, and whether it can be judged.
#pragma once

#include "analysis/not_judged.h"
#include "runway/target.h"
#include "src/events/catalogue.h"
#include "src/events/event.h"
#include "src/instructions/category.h"
#include "src/machine/machine.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/run/run.h"
#include "src/support/address.h"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::measure {

/// The machine that a recording was made on, from its run or the recording itself.
machine::Machine recorded_machine(const perfdata::Features& features, const run::Run* run);

/// An event of the CPU cores, as its PMU encodes it.
struct CoreEvent {
  std::uint64_t config = 0, config1 = 0;  ///< of a raw event; of a generic one its code there
  bool cycles = false;
};

/// What is known of one recorded event.
struct EventKnowledge {
  std::optional<CoreEvent> core;  ///< nullopt: no event of a core PMU, or one without a known code
  bool core_pmu = false;          ///< of a core PMU, whether or not its code is known
  /// Of a core PMU of Arm, which records where the interrupt occurred: the
  /// kernel (drivers/perf/arm_pmu.c) accepts any precise level and ignores it.
  bool of_arm = false;
  bool cpu_recorded = true;  ///< that the recording contains which CPU it is of
  /// "Intel's event file skylake V59", "libpfm4, core"; empty: none covers the CPU.
  std::string catalogue;
  events::Cpu cpu;
  std::optional<events::Event> event;  ///< nullopt: the catalogue does not have it

  events::Counted counted = events::Counted::other;

  /// By catalogue, the CPU cannot record it precisely.
  bool imprecise() const noexcept { return event && event->precise == false; }
};

/// What an audit of an event needs: the causes, or why it cannot be judged.
struct KnownCauses {
  analysis::NotJudged not_judged = analysis::NotJudged::none;
  std::vector<events::Cause> causes;
};
KnownCauses causes_of(const EventKnowledge& knowledge);

/// Whether an event is one of the CPU cores' PMUs. `pmu_name`: of attribute.type, empty when
/// unknown.
bool is_core_event(const perfdata::Attribute& attribute, std::string_view pmu_name);

/// Makes a catalogue when the first recording of its CPU needs it, for all threads: to list a CPU's
/// events takes as long as to read a recording.
class Catalogues {
 public:
  /// `perfmon`: directory of Intel's event files; empty: what is built in.
  explicit Catalogues(std::filesystem::path perfmon = {}) : perfmon_(std::move(perfmon)) {}

  /// Null where there is none for this CPU. Throws what events::open_catalogue() throws for a
  /// directory.
  std::shared_ptr<const events::Catalogue> of(const machine::Machine& machine);

 private:
  std::filesystem::path perfmon_;
  std::mutex mutex_;
  /// By CPU and the name of its first core PMU.
  std::map<std::pair<machine::CpuIdentity, std::string>, std::shared_ptr<const events::Catalogue>>
      known_;
};

/// The catalogue of the CPU that a recording is of.
class RecordedCpu {
 public:
  /// `catalogues`: of all recordings; null: what is built in is read for this one alone.
  explicit RecordedCpu(machine::Machine machine, std::shared_ptr<Catalogues> catalogues = {})
      : machine_(std::move(machine)), catalogues_(std::move(catalogues)) {}

  const machine::Machine& machine() const noexcept { return machine_; }
  /// Opens the catalogue for the first event of a core PMU. Throws what events::open_catalogue()
  /// throws for a directory.
  EventKnowledge know(const perfdata::Attribute& attribute, std::string_view pmu_name);
  /// "events of Intel's event file skylake V59": which catalogue answered, or why none did.
  std::string catalogue_name() const;

 private:
  machine::Machine machine_;
  std::shared_ptr<Catalogues> catalogues_;
  bool looked_up_ = false;
  std::shared_ptr<const events::Catalogue> catalogue_;
};

/// What a recording's own command line requested, one entry per measured event in their order;
/// empty when the command line does not contain it (no -e, groups, another number of events).
std::vector<std::string> requested_events(const perfdata::Features& features,
                                          std::size_t measured_events);

/// cpu-clock or task-clock.
bool is_clock(const perfdata::Attribute& attribute);
/// page-faults, minor-faults or major-faults.
bool is_page_fault(const perfdata::Attribute& attribute);

/// perf's own cycles.
bool is_generic_cycles(const perfdata::Attribute& attribute);

/// Whether `perf record` was given no event, so that it takes its default.
bool names_no_event(const std::vector<std::string>& command_line);

/// Whether another event was recorded than `requested` names: perf silently records cpu-clock for
/// cycles where there is no PMU. `requested` may be a perf event or a built-in name.
bool is_substituted(std::string_view requested, const perfdata::Attribute& recorded);

/// Whether an attribute is certainly the requested event, by its name, generic event or code;
/// modifiers and levels aside.
bool is_recorded_as_requested(std::string_view requested, const perfdata::Attribute& recorded);

/// The built-in event that an attribute amounts to on this target ("access", "execute", "faults");
/// nullopt when it is none of them.
std::optional<std::string> builtin_event_of(const perfdata::Attribute& attribute,
                                            const runway::TargetDescription& target);

/// Whether several triggers cause the event equally often. The execute breakpoint is at the first
/// one; in a pointer chase the watched datum is one element, which the same trigger may access in
/// every round; of the CPU's events a trigger that can cause one need not do so in each iteration.
bool triggers_are_equal(const perfdata::Attribute& attribute, const EventKnowledge& knowledge,
                        const runway::TargetDescription& target);

/// What the instructions of a target's loop do. Empty: not known.
struct LoopCategories {
  instructions::Categories trigger;
  instructions::Categories others;  ///< of all whose samples are judged
};

/// Why samples of this event cannot be judged, or NotJudged::none. Judged is only what is known:
/// where the CPU records the address of a cause precisely, the trigger is known to cause the event,
/// and no other instruction of the loop can (docs/method.md). `target` null: that the hit function
/// alone causes it is taken from the user. `loop`: of the target.
/// pmu_name: of attribute.type in the recording, empty when unknown.
analysis::NotJudged reason_not_judged(const perfdata::Attribute& attribute,
                                      std::string_view pmu_name, const EventKnowledge& knowledge,
                                      const runway::TargetDescription* target,
                                      const LoopCategories& loop);

/// What the reason leaves open: that the CPU has no precise levels, or which catalogue does not
/// have the precision of the event. May be empty.
std::string remark_on(const EventKnowledge& knowledge, unsigned level,
                      analysis::NotJudged not_judged);

/// Software events, breakpoints and tracepoints accept a precise level and ignore it.
bool ignores_level(const perfdata::Attribute& attribute);

/// Where every sample of an event that ignores levels is, in instructions from the trigger: what
/// `target` declares; null: by the kind of event and the architecture. nullopt: not known.
std::optional<std::int64_t> known_offset(const perfdata::Attribute& attribute,
                                         const runway::TargetDescription* target,
                                         std::optional<Arch> arch);

}  // namespace skid::measure
