// A recording that was read: its samples by place, its machine and its events. Where trigger and
// runway are in it, by a target's own note or by names of functions. And whether what a run of
// skidscan measured of an event holds for it: the same event in the same modes, CPU and kernel.
#pragma once

#include "analysis/target_map.h"
#include "src/locate/digest.h"
#include "src/measure/event_description.h"
#include "src/support/names.h"
#include "src/symbols/module.h"

#include <algorithm>
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

struct TargetGeometry {
  std::vector<symbols::FileIndex> mappings;  ///< of the target's file, ascending; may be none
  const symbols::Module* module = nullptr;   ///< owned by the ModuleStore
  analysis::TargetMap map;
  analysis::Trigger trigger;
  std::optional<runway::TargetDescription> description;  ///< nullopt for functions
  LoopCategories categories = {};

  bool is_mapped_by(symbols::FileIndex file) const {
    return std::ranges::binary_search(mappings, file);
  }
  /// Where samples are in the target, as the breakdown has it; nullopt: elsewhere. `location`: of
  /// user mode. `level`: precise_ip.
  std::optional<analysis::Classified> classify(const std::optional<symbols::FileLocation>& location,
                                               int level) const;
};

/// The data that the triggers of a target access, by its note and, for a pointer chase, its report.
/// `report`: of the run, null where unknown. Empty where that is not known or there is none.
std::vector<analysis::DeclaredData> declared_data(const runway::TargetDescription& target,
                                                  const runway::TargetReport* report);

/// The generated target among the sampled files, identified by its note. Where no file has a sample
/// in user mode, it is the one that the run names: then it is known what was to be expected, though
/// no sample came. nullopt when there is none, or the run's cannot be opened or has another
/// build-id. A note that cannot be read is added to `remarks`.
std::optional<TargetGeometry> find_recorded_target(const Profile& profile,
                                                   std::vector<std::string>& remarks);

/// The sampled file that has both functions. Throws Error if none or several have, or if a name is
/// ambiguous; the message lists the searched files.
TargetGeometry find_functions(const Profile& profile, const std::string& hit,
                              const std::string& runway);

}  // namespace skid::measure
