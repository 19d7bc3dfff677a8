// What the catalogue of events knows of an event that was recorded, perhaps on another machine.
#pragma once

#include "analysis/not_judged.h"
#include "src/events/catalogue.h"
#include "src/events/causes.h"
#include "src/events/event.h"
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

/// The architecture of a recorded CPU; nullopt where it is not known, or another one.
std::optional<Arch> arch_of(const machine::CpuIdentity& cpu);

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
  std::map<std::string, std::shared_ptr<const events::Catalogue>> known_;  ///< by CPU
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

}  // namespace skid::measure
