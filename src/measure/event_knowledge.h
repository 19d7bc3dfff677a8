// Which event was recorded, perhaps on another machine, whether it is the requested one, what the
// catalogue of events knows of it, and whether it can be judged.
#pragma once

#include "analysis/not_judged.h"
#include "src/instructions/category.h"
#include "src/machine/cpu_identity.h"  // IWYU pragma: keep
#include "src/machine/machine.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace skid::events {
class Catalogue;
}  // namespace skid::events

namespace skid::perfdata {
struct Attribute;
struct Features;
}  // namespace skid::perfdata

namespace skid::run {
struct Run;
}  // namespace skid::run

namespace skid::runway {
struct TargetDescription;
}  // namespace skid::runway

namespace skid::measure {

struct RecordedEvent;

/// Returns the machine that a recording was made on, from its run or the recording itself.
machine::Machine recorded_machine(const perfdata::Features& features, const run::Run* run);

/// Whether an event belongs to a core PMU. `pmu_name` is the name of attribute.type, empty when
/// unknown.
bool is_core_event(const perfdata::Attribute& attribute, std::string_view pmu_name);
bool is_core_event(const RecordedEvent& event);

/// Whether an event is of a core PMU of Arm, which records where the interrupt occurred: the kernel
/// (drivers/perf/arm_pmu.c) accepts any precise level and ignores it.
bool is_of_arm(const RecordedEvent& event);

/// Whether an event counts cycles at level 0, by its code.
bool counts_cycles(const RecordedEvent& event);

/// Makes a catalogue when the first recording of its CPU needs it, for all threads: to list a CPU's
/// events takes as long as to read a recording.
class Catalogues {
 public:
  /// `perfmon`: directory of Intel's event files; empty: what is built in.
  explicit Catalogues(std::filesystem::path perfmon = {}) : perfmon_(std::move(perfmon)) {}

  /// Returns the catalogue of a machine's CPU, or null if there is none. Throws what
  /// events::open_catalogue() throws for a directory.
  std::shared_ptr<const events::Catalogue> of(const machine::Machine& machine);

 private:
  std::filesystem::path perfmon_;
  std::mutex mutex_;
  /// Catalogues by CPU and the name of its first core PMU.
  std::map<std::pair<machine::CpuIdentity, std::string>, std::shared_ptr<const events::Catalogue>>
      known_;
};

/// The catalogue of the CPU that a recording is of.
class RecordedCpu {
 public:
  /// `catalogues` are shared by all recordings; null: the built-in table is read for this one
  /// alone.
  explicit RecordedCpu(machine::Machine machine, std::shared_ptr<Catalogues> catalogues = {})
      : machine_(std::move(machine)), catalogues_(std::move(catalogues)) {}

  const machine::Machine& machine() const noexcept { return machine_; }
  /// Adds to an event of this machine what the catalogue states. Opens the catalogue for the first
  /// event of a core PMU. Throws what events::open_catalogue() throws for a directory.
  void look_up(RecordedEvent& event);
  /// Returns "events of Intel's event file skylake V59": which catalogue answered, or why none did.
  std::string catalogue_name() const;

 private:
  machine::Machine machine_;
  std::shared_ptr<Catalogues> catalogues_;
  bool looked_up_ = false;
  std::shared_ptr<const events::Catalogue> catalogue_;
};

/// Whether an event of IBS or SPE samples any operation: without the filters l3missonly, ldlat,
/// fetchlat and strmst (arch/x86/events/amd/ibs.c), or those of SPE (drivers/perf/arm_spe_pmu.c).
/// `pmu_name`: a core PMU's for events handed to IBS.
bool tags_any_operation(std::string_view pmu_name, const perfdata::Attribute& attribute);

/// Whether an event is cpu-clock or task-clock.
bool is_clock(const perfdata::Attribute& attribute);
/// Whether an event is page-faults, minor-faults or major-faults.
bool is_page_fault(const perfdata::Attribute& attribute);

/// Returns the number of a generic event. Hybrid machines keep the PMU's number in the upper half
/// of config (PERF_PMU_TYPE_SHIFT of linux/perf_event.h).
std::uint64_t generic_config(const perfdata::Attribute& attribute);

/// Whether an event is perf's generic cycles.
bool is_generic_cycles(const perfdata::Attribute& attribute);

/// Returns the built-in event that an attribute amounts to on this target ("access", "execute",
/// "faults"); nullopt when it is none of them.
std::optional<std::string> builtin_event_of(const perfdata::Attribute& attribute,
                                            const runway::TargetDescription& target);

/// Whether several triggers cause the event equally often. The execute breakpoint is at the first
/// one; in a pointer chase the watched datum is one element, which the same trigger may access in
/// every round; of the CPU's events a trigger that can cause one need not do so in each iteration.
bool triggers_are_equal(const RecordedEvent& event, const runway::TargetDescription& target);

/// What the instructions of a target's loop do. Empty: not known.
struct LoopCategories {
  instructions::Categories trigger;
  /// Categories of all other instructions whose samples are judged.
  instructions::Categories others;
};

/// Returns why samples of this event cannot be judged, or NotJudged::none. Samples are judged where
/// the CPU records the address of a cause precisely, the trigger is known to cause the event,
/// and no other instruction of the loop can (docs/method.md). If `target` is null, the user states
/// that the hit function alone causes the event. `loop` belongs to the target.
analysis::NotJudged reason_not_judged(const RecordedEvent& event,
                                      const runway::TargetDescription* target,
                                      const LoopCategories& loop);

/// Adds what the reason leaves open: that the CPU has no precise levels, or which catalogue does
/// not have the precision of the event. May be empty.
std::string remark_on(const RecordedEvent& event, analysis::NotJudged not_judged);

/// Whether an event accepts a precise level and ignores it: software events, breakpoints and
/// tracepoints do.
bool ignores_level(const perfdata::Attribute& attribute);

/// Returns the offset of every sample of an event that ignores levels, in instructions: what
/// `target` declares; null: by the kind of event and the architecture. nullopt: not known.
std::optional<std::int64_t> known_offset(const RecordedEvent& event,
                                         const runway::TargetDescription* target);

}  // namespace skid::measure
