// Whether what a run of skidscan measured of an event holds for a profile: the same event in the
// same modes, CPU and kernel.
#pragma once

#include "src/support/names.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::perfdata {
struct Attribute;
}  // namespace skid::perfdata

namespace skid::measure {

struct RecordedEvent;

/// A property of a profile and of the run whose measurement is to hold for it.
struct Compared {
  enum class Match : std::uint8_t { same, differs, unknown };
  std::string what;          ///< "microcode"
  std::string profile, run;  ///< values of both; empty: not recorded
  Match match = Match::unknown;
};
SKID_NAMES(Compared::Match, "same", "differs", "unknown")

inline constexpr const char* kCountedModes = "counted modes";

/// Whether the run's measurement has the attribute's event and level.
bool measures(const analysis::Measurement& run, const perfdata::Attribute& attribute);

/// Compares all that has to be equal, and last the sampling mode.
std::vector<Compared> compare_with_run(const RecordedEvent& event,
                                       const analysis::Measurement& run);

/// Names what differs, or is required and unknown: microcode, hypervisor and sampling mode may be
/// unknown. Empty: what the run measured holds for the profile.
std::vector<std::string> differing_from_run(std::span<const Compared> compared);

}  // namespace skid::measure
