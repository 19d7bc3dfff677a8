// A recording that was read: its samples by place, its machine and its events.
#pragma once

#include "analysis/measurement.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/measure.h"
#include "src/perfdata/recording.h"

#include <optional>
#include <vector>

namespace skid::measure {

struct Profile {
  /// Reads `recording`, that of `source`, and tells `modules` of its machine and its targets; all
  /// three must outlive the profile. `choices.places` are those of `modules` already. Throws
  /// InputError where the recording lacks what the filter needs, and what RecordedCpu::know()
  /// throws.
  Profile(const Source& source, perfdata::Recording& recording, locate::ModuleStore& modules,
          const ReadingChoices& choices);
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  const machine::Machine& machine() const noexcept { return cpu.machine(); }
  /// As recorded; nullopt: not recorded, or another one.
  std::optional<Arch> arch() const { return arch_of(machine().cpu); }
  /// Whether an event is one of the filter's, and no dummy nor a cross-check. Notes it in
  /// `filtered`, which no longer counts its samples where it is not.
  bool selects(const RecordedEvent& event, const locate::Filter& filter,
               locate::Filtered& filtered) const;
  /// The measurement of an event without its period, and without all that is counted.
  analysis::Measurement described(const RecordedEvent& event) const;
  /// As locate::visit_records().
  void visit(const locate::Visitor& visitor) const {
    locate::visit_records(recording, digest, visitor);
  }
  /// Fills all of a summary but its `filtered`.
  void summarize(RecordingSummary& summary) const;

  const Source& source;
  perfdata::Recording& recording;
  locate::Digest digest;
  locate::ModuleStore& modules;
  RecordedCpu cpu;
  std::vector<RecordedEvent> events;  ///< by attribute, dummy events among them
};

}  // namespace skid::measure
