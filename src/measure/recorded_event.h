// An event of a recording, and what is known of it: made once for each attribute, by
// describe_events() and RecordedCpu::look_up(), and used by all that reads recordings.
#pragma once

#include "analysis/classified.h"
#include "analysis/event_identity.h"
#include "analysis/not_judged.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/events/event.h"
#include "src/instructions/counted.h"
#include "src/support/precise_level.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::machine {
struct Machine;
}  // namespace skid::machine

namespace skid::perfdata {
struct Attribute;
}  // namespace skid::perfdata

namespace skid::measure {

/// An event of a recording, and what is known of it.
struct RecordedEvent {
  std::uint32_t index = 0;  ///< index of its attribute
  const perfdata::Attribute& attribute;
  std::string pmu_name;             ///< name of attribute.type; empty when unknown
  const machine::Machine& machine;  ///< machine that recorded it

  // As it was requested and recorded.
  analysis::EventIdentity identity = {};
  analysis::PreciseLevel precise = {};
  ExactIp exact_ip = ExactIp::unknown;  ///< what the flag means on the recorded CPU
  bool of_run = false;                  ///< true if `machine` is a run's and thus complete
  bool synthetic = false;
  std::optional<std::uint64_t> period = {};  ///< requested; nullopt with a frequency

  // By the catalogue of events, from RecordedCpu::look_up().
  /// Code for the core PMU (events::code_of()); nullopt: no core event, or its code is unknown.
  std::optional<std::uint64_t> code = {};
  /// "Intel's event file skylake V59", "libpfm4, core"; empty: none covers the CPU.
  std::string catalogue = {};
  std::optional<events::Event> entry = {};  ///< nullopt: the catalogue does not have it
  events::Counted counted = events::Counted::other;
  std::vector<events::Cause> causes = {};
  /// Why samples cannot be judged by `causes`; none: they can.
  analysis::NotJudged unknown_causes = analysis::NotJudged::no_core_event;
  /// Where its samples are, seen from their cause.
  analysis::Landing landing = analysis::Landing::at_cause;

  // By the whole recording.
  std::size_t counters = 1;  ///< events of the recording that need a counter of the same core type
  /// True if another PEBS event of its PMU gets an interrupt per record, which empties the buffer
  /// of all (pebs_update_threshold() in arch/x86/events/intel/ds.c).
  bool shares_interrupts = false;
  std::uint64_t samples = 0, exact = 0;  ///< samples read, and those with EXACT_IP

  /// Whether it is not a precise event on this CPU, by catalogue.
  bool imprecise() const noexcept { return entry && entry->precise == false; }
};

}  // namespace skid::measure
