// Which events a recording has, and how the kernel and the CPU recorded them.
#pragma once

#include "analysis/addresses.h"
#include "analysis/recording_path.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

struct RecordedEvent;
struct Source;

/// Returns the name of an event's PMU; empty when unknown. A generic event of a hybrid CPU has the
/// number of its PMU in the upper half of config (PERF_PMU_TYPE_SHIFT of linux/perf_event.h).
std::string pmu_name(const perfdata::Features& features, const perfdata::Attribute& attribute);

/// Whether an attribute is the tracepoint that `record --check-ip` records with page faults, which
/// is not a requested event.
bool is_cross_check(const perfdata::Attribute& attribute, const Source& source);

/// Whether a recording, or its run, says that it is synthetic.
bool is_synthetic(const Source& source, const perfdata::Features& features);

/// Describes the events of a recording by attribute, dummy events included, but for their samples
/// and what the catalogue states. `machine` made the recording; both must outlive the events.
std::vector<RecordedEvent> describe_events(const Source& source,
                                           const perfdata::Recording& recording,
                                           const machine::Machine& machine);

/// Whether PEBS records the samples of an event.
bool is_pebs(const RecordedEvent& event);

/// Whether an event is one of IBS, or one of AMD's core PMU that the kernel hands to IBS.
bool is_ibs(const RecordedEvent& event);

/// Whether the event is of Arm's SPE, whose samples are made of its AUX data.
bool is_spe(const RecordedEvent& event);

/// Returns the argument of perf record -e that requests an event again, in the same modes:
/// "r81d0:up". `level`: precise level. Empty: the recording does not show how.
std::string request_at(const RecordedEvent& event, int level);

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
