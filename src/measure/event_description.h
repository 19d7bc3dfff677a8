// Which event, recording and machine samples come from: a measurement before anything is counted.
// Also, how the kernel and the CPU change an event so that its samples have another meaning.
#pragma once

#include "analysis/addresses.h"
#include "analysis/classified.h"
#include "analysis/event_identity.h"
#include "analysis/recording_path.h"
#include "src/measure/event_knowledge.h"
#include "src/support/precise_level.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::events {
struct PeriodRule;
}  // namespace skid::events

namespace skid::machine {
struct Machine;
}  // namespace skid::machine

namespace skid::perfdata {
class Recording;
struct Attribute;
struct Features;
}  // namespace skid::perfdata

namespace skid::measure {

struct Source;

/// Returns the name of an event's PMU; empty when unknown. A generic event of a hybrid CPU has the
/// number of its PMU in the upper half of config (PERF_PMU_TYPE_SHIFT of linux/perf_event.h).
std::string pmu_name(const perfdata::Features& features, const perfdata::Attribute& attribute);

/// Whether an attribute is the tracepoint that `record --check-ip` records with page faults, which
/// is not a requested event.
bool is_cross_check(const perfdata::Attribute& attribute, const Source& source);

/// An event of a recording, and what is known of it.
struct RecordedEvent {
  std::uint32_t index = 0;  ///< index of its attribute
  const perfdata::Attribute& attribute;
  std::string pmu_name;  ///< name of attribute.type; empty when unknown
  EventKnowledge knowledge;
  const machine::Machine& machine;  ///< machine that recorded it
  analysis::EventIdentity identity = {};
  analysis::PreciseLevel precise = {};
  ExactIp exact_ip = ExactIp::unknown;  ///< what the flag means on the recorded CPU
  bool of_run = false;                  ///< true if `machine` is a run's and thus complete
  bool synthetic = false;
  std::optional<std::uint64_t> period = {};  ///< requested; nullopt with a frequency
  /// Where its samples are, seen from their cause.
  analysis::Landing landing = analysis::Landing::at_cause;
  std::size_t counters = 1;  ///< events of the recording that need a counter of the same core type
  /// True if another PEBS event of its PMU gets an interrupt per record, which empties the buffer
  /// of all (pebs_update_threshold() in arch/x86/events/intel/ds.c).
  bool shares_interrupts = false;
  std::uint64_t samples = 0, exact = 0;  ///< samples read, and those with EXACT_IP
};

/// Whether a recording, or its run, says that it is synthetic.
bool is_synthetic(const Source& source, const perfdata::Features& features);

/// Describes an event but for its samples and the catalogue's knowledge. `machine` made the
/// recording; both must outlive the event. `requested` is from requested_by_attribute().
RecordedEvent describe_event(const Source& source, const perfdata::Recording& recording,
                             const machine::Machine& machine, std::uint32_t index,
                             const std::optional<std::string>& requested);

/// Names, level and period of a sampled event.
struct EventSummary {
  std::string event;         ///< name without level and modifiers
  std::string requested;     ///< empty: not recorded
  bool substituted = false;  ///< true if `recorded` is another event
  std::string recorded;
  int level = 0;
  std::optional<std::uint64_t> period;  ///< nullopt with a frequency
};
EventSummary event_summary(const RecordedEvent& event);

/// Whether PEBS records the samples of an event.
bool is_pebs(const RecordedEvent& event);

/// Whether an event is one of IBS, or one of AMD's core PMU that the kernel hands to IBS.
bool is_ibs(const RecordedEvent& event);

/// Returns what to request so that the recorded CPU records an event precisely, "r00c5:pp"; empty:
/// it cannot, or that is not known. It records cycles by another event, or by IBS.
std::string precise_request(const RecordedEvent& event);

/// Returns the number of events from an overflow to the one that a record is of, where nothing
/// delays it; nullopt if it is not known. A guest's host chooses the counter, and with it whether
/// the counter has precise distribution.
std::optional<std::uint64_t> events_to_record(const RecordedEvent& event);

/// Returns how reliable the data addresses of an event's samples are; nullopt: they contain none.
/// AMD's core PMU samples through IBS at level 1 and above
/// (arch/x86/events/amd/ibs.c), Intel's has data addresses only in PEBS records.
std::optional<analysis::AddressSource> address_source(const RecordedEvent& event);

/// Returns the sampling mode of an event (frequency, call graph, branch stack, batched PEBS).
analysis::RecordingPath recording_path(const RecordedEvent& event);

/// Whether an event needs one of the few counters that a core PMU has for any event. Cycles,
/// instructions and reference cycles can be counted in counters of their own.
bool takes_counter(const perfdata::Attribute& attribute, std::string_view pmu_name);

/// Returns the periods that the kernel takes for an event; nullopt: any, or not known.
std::optional<events::PeriodRule> period_rule_of(const RecordedEvent& event);

}  // namespace skid::measure
