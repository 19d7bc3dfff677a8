// Which event, recording and machine samples come from: a measurement before anything is counted.
// Also, how the kernel and the CPU change an event so that its samples mean something else.
#pragma once

#include "src/events/kernel_rules.h"
#include "src/measure/measure.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/support/precise_level.h"

#include <cstddef>

namespace skid::measure {

/// The name of an event's PMU; empty when unknown. A generic event of a hybrid CPU has the number
/// of its PMU in the upper half of config (PERF_PMU_TYPE_SHIFT of linux/perf_event.h).
std::string pmu_name(const perfdata::Features& features, const perfdata::Attribute& attribute);

/// By attribute, what the recording's own command line requested, perf's default "cycles:P" among
/// it; nullopt where unknown, and for dummy events.
std::vector<std::optional<std::string>> requested_by_attribute(
    const perfdata::Recording& recording);

/// Whether it is the tracepoint that `record --check-ip` records with page faults, which is not a
/// requested event.
bool is_cross_check(const perfdata::Attribute& attribute, const Source& source);

/// An event of a recording, and what is known of it.
struct RecordedEvent {
  std::uint32_t index = 0;  ///< of its attribute
  const perfdata::Attribute& attribute;
  std::string pmu_name;  ///< of attribute.type, empty when unknown
  EventKnowledge knowledge;
  const machine::Machine& machine;  ///< that it was recorded on
  analysis::EventIdentity identity = {};
  analysis::PreciseLevel precise = {};
  ExactIp exact_ip = ExactIp::unknown;  ///< what the flag means on the recorded CPU
  bool of_run = false;                  ///< `machine` is a run's, so that all of it is known
  bool synthetic = false;
  std::optional<std::uint64_t> period = {};  ///< requested; nullopt with a frequency
  std::size_t counters = 1;  ///< events of the recording that need a counter of a core PMU each
  std::uint64_t samples = 0, exact = 0;  ///< read; of these with EXACT_IP
};

/// Whether a recording, or its run, says that it is synthetic.
bool is_synthetic(const Source& source, const perfdata::Features& features);

/// Everything about an event but its samples and the catalogue's knowledge. `machine`: made the
/// recording; must outlive the event, as `recording` must. `requested`: of
/// requested_by_attribute().
RecordedEvent describe_event(const Source& source, const perfdata::Recording& recording,
                             const machine::Machine& machine, std::uint32_t index,
                             const std::optional<std::string>& requested);

/// Names, level and period of a sampled event.
struct EventSummary {
  std::string event;         ///< without level and modifiers
  std::string requested;     ///< empty: not recorded
  bool substituted = false;  ///< `recorded` is another event
  std::string recorded;
  int level = 0;
  std::optional<std::uint64_t> period;  ///< nullopt with a frequency
};
EventSummary event_summary(const RecordedEvent& event);

/// Whether `name` is that of an event, as requested or recorded: with its level and modifiers,
/// without the level, or without both.
bool is_event_named(std::string_view name, const analysis::EventIdentity& event);

/// Whether an event has one of the filter's names: as requested, as recorded, or without level and
/// modifiers. Without names all events are selected. Notes the event, and takes its `samples` off
/// those selected otherwise.
bool select_event(const analysis::EventIdentity& event, const locate::Filter& filter,
                  std::uint64_t samples, locate::Filtered& filtered);

/// The same for all events of a recording, before its samples are read. By attribute.
std::vector<bool> selected_events(const Source& source, const perfdata::Recording& recording,
                                  const locate::Filter& filter, locate::Filtered& filtered);

/// Whether PEBS records the samples of an event.
bool is_pebs(const RecordedEvent& event);

/// An event of IBS, or one of AMD's core PMU that the kernel hands to it.
bool is_ibs(const RecordedEvent& event);

/// What the data addresses of an event's samples are worth; nullopt: they contain none.
/// AMD's core PMU samples through IBS at level 1 and above
/// (arch/x86/events/amd/ibs.c), Intel's has data addresses only in PEBS records.
std::optional<analysis::AddressSource> address_source(const RecordedEvent& event);

/// The path by which the samples of an event came.
analysis::RecordingPath recording_path(const RecordedEvent& event);

/// Whether an event needs one of the few counters that a core PMU has for any event. Cycles,
/// instructions and reference cycles can be counted in counters of their own.
bool takes_counter(const perfdata::Attribute& attribute, std::string_view pmu_name);

/// Which periods the kernel takes of an event; nullopt: any, or not known.
std::optional<events::PeriodRule> period_rule_of(const RecordedEvent& event);

/// Sentences, most important first: not precise at its level, cycles counted by another event,
/// errata of counting one mode and of SMT, an unsupported period, shared counters.
std::vector<std::string> event_warnings(const RecordedEvent& event);

/// Another event or level was recorded than requested, or a clock in place of an event of the CPU.
/// Empty: it was recorded as requested, or nothing is known of it.
std::string not_as_requested(const RecordedEvent& event);

/// That, or a level that the samples show to be ignored.
std::string precision_lost(const RecordedEvent& event);

/// Why samples of an event are not precise: what was lost; or it is a clock, or an event of the CPU
/// at level 0. Empty: precise, or no level concerns the event (page faults, breakpoints,
/// tracepoints).
std::string why_not_precise(const RecordedEvent& event);

/// Both texts, of an event of a recording.
struct EventPrecision {
  std::string lost, not_precise;
};
/// By attribute; empty texts for dummy events. `counts`: of the whole recording.
std::vector<EventPrecision> precision_of(const perfdata::Recording& recording,
                                         const perfdata::RecordCounts& counts);

}  // namespace skid::measure
