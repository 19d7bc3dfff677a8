// By how many instructions the samples of an event skidded, where that is one number, or why it is
// not to be taken out.
#pragma once

#include "analysis/measurement.h"
#include "src/machine/machine.h"
#include "src/measure/event_knowledge.h"
#include "src/perfdata/attribute.h"
#include "src/support/address.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skid::correct {

enum class Verdict : std::uint8_t {
  corrected,
  corrected_in_part,  ///< of more than kMostUnplaced of the samples the cause is open
  refused,
  nothing_to_correct,  ///< the skid of such an event is 0, or it has no samples
};
/// "nothing_to_correct"
std::string_view name_of(Verdict verdict);
/// Whether some samples were placed.
constexpr bool is_corrected(Verdict verdict) {
  return verdict == Verdict::corrected || verdict == Verdict::corrected_in_part;
}

enum class SkidSource : std::uint8_t {
  none,
  known,     ///< by what the event is
  measured,  ///< by a run of skidscan on the same machine
};
std::string_view name_of(SkidSource source);

/// A property of the profile and of the run whose measurement is to hold for it.
struct Compared {
  enum class Match : std::uint8_t { same, differs, unknown };
  std::string what;          ///< "microcode"
  std::string profile, run;  ///< empty: not recorded
  Match match = Match::unknown;
};
std::string_view name_of(Compared::Match match);

struct Skid {
  Verdict verdict = Verdict::refused;
  std::optional<unsigned> instructions;  ///< nullopt: no constant that is known
  SkidSource source = SkidSource::none;
  std::string reason;              ///< a sentence: of a refusal, or why there is nothing to do
  std::string advice;              ///< what gives a better profile; may be empty
  std::string run;                 ///< that measured it; empty: none
  std::vector<Compared> compared;  ///< with `run`
};

/// An event of a profile.
struct ProfiledEvent {
  const perfdata::Attribute& attribute;
  std::string_view pmu_name;  ///< of attribute.type, empty when unknown
  const measure::EventKnowledge& knowledge;
  const machine::Machine& machine;  ///< that it was recorded on
  bool of_run = false;              ///< `machine` is a run's, so that all of it is known
  bool synthetic = false;
  std::uint64_t exact = 0;  ///< samples with EXACT_IP
};

/// `measured`: the measurements of --skid; nullopt: not given. The verdict is `corrected` where the
/// skid is a constant of 1 to kLongestSkid instructions.
Skid skid_of(const ProfiledEvent& event,
             std::optional<std::span<const analysis::Measurement>> measured);

}  // namespace skid::correct
