// A recording that was read: its samples by place, its machine and its events. Whether what a run
// of skidscan measured of an event holds for it: the same event, counted in the same modes, by the
// same CPU and kernel.
#pragma once

#include "src/locate/digest.h"
#include "src/measure/event_description.h"
#include "src/support/names.h"

#include <span>

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
  std::optional<Arch> arch() const { return arch_of_kernel(machine().cpu.arch); }
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

/// A property of a profile and of the run whose measurement is to hold for it.
struct Compared {
  enum class Match : std::uint8_t { same, differs, unknown };
  std::string what;          ///< "microcode"
  std::string profile, run;  ///< empty: not recorded
  Match match = Match::unknown;
};
SKID_NAMES(Compared::Match, "same", "differs", "unknown")

inline constexpr const char* kCountedModes = "counted modes";

/// Whether the run's measurement is of the attribute's event, at its level.
bool measures(const analysis::Measurement& run, const perfdata::Attribute& attribute);

/// All that has to be equal, and last the recording path.
std::vector<Compared> compare_with_run(const RecordedEvent& event,
                                       const analysis::Measurement& run);

/// Names of what differs, or is not known and has to be: microcode, hypervisor and recording path
/// need not be. Empty: what the run measured holds for the profile.
std::vector<std::string> differing_from_run(std::span<const Compared> compared);

}  // namespace skid::measure
