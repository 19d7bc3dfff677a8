// Whether what a run of skidscan measured of an event holds for a profile: the same event, counted
// in the same modes, by the same CPU and kernel.
#pragma once

#include "analysis/measurement.h"
#include "src/measure/event_description.h"
#include "src/perfdata/attribute.h"
#include "src/support/names.h"

#include <span>
#include <string>
#include <vector>

namespace skid::measure {

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
