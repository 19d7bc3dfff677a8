// A recording that was read: its samples by place, its machine and its events.
#pragma once

#include "analysis/measurement.h"
#include "src/locate/digest.h"
#include "src/locate/visit_records.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/recorded_event.h"
#include "src/support/address.h"

#include <optional>
#include <string>
#include <vector>

namespace skid::locate {
class ModuleStore;
struct Filter;
struct Filtered;
}  // namespace skid::locate

namespace skid::perfdata {
class Recording;
}  // namespace skid::perfdata

namespace skid::measure {

struct ReadingChoices;
struct RecordingSummary;
struct Source;

/// Lets `modules` find the files in the directory of a recording, and the targets of its run.
void add_files_of(const Source& source, locate::ModuleStore& modules);

/// A recording that was read.
struct Profile {
  /// Reads `recording`, that of `source`, and adds its machine and its targets to `modules`; all
  /// three must outlive the profile. `choices.places` are those of `modules` already. Throws
  /// InputError where the recording lacks what the filter needs, and what RecordedCpu::know()
  /// throws.
  Profile(const Source& source, perfdata::Recording& recording, locate::ModuleStore& modules,
          const ReadingChoices& choices);
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  const machine::Machine& machine() const noexcept { return cpu.machine(); }
  /// Returns the recorded architecture; nullopt: not recorded, or not supported.
  std::optional<Arch> arch() const { return arch_of_kernel(machine().cpu.arch); }
  /// Whether the filter selects an event, which is neither a dummy nor a cross-check. The event is
  /// noted in `filtered`, which no longer counts the samples of one that is not selected.
  bool selects(const RecordedEvent& event, const locate::Filter& filter,
               locate::Filtered& filtered) const;
  /// Returns the measurement of an event without its period, and without all that is counted.
  analysis::Measurement described(const RecordedEvent& event) const;
  /// Reads the records once more and calls the visitors for each, in their order, as
  /// locate::visit_records() does. Empty ones are left out; reads nothing if all are.
  void visit(std::vector<locate::Visitor> visitors) const;
  /// Fills all of a summary but its `filtered`.
  void summarize(RecordingSummary& summary) const;

  const Source& source;
  perfdata::Recording& recording;
  locate::Digest digest;
  locate::ModuleStore& modules;
  RecordedCpu cpu;
  std::vector<RecordedEvent> events;  ///< events by attribute, including dummy events
};

}  // namespace skid::measure
