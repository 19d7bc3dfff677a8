// By how many instructions the samples of an event skidded, where that is one number, or why it is
// not to be taken out.
#pragma once

#include "analysis/measurement.h"
#include "src/measure/matching_run.h"
#include "src/support/names.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::correct {

enum class Verdict : std::uint8_t {
  corrected,
  corrected_in_part,  ///< of more than kMostUnplaced of the samples the cause is open
  refused,
  nothing_to_correct,  ///< the skid of such an event is 0, or it has no samples
};
SKID_NAMES(Verdict, "corrected", "corrected_in_part", "refused", "nothing_to_correct")
/// Whether some samples were placed.
constexpr bool is_corrected(Verdict verdict) {
  return verdict == Verdict::corrected || verdict == Verdict::corrected_in_part;
}

enum class SkidSource : std::uint8_t {
  none,
  known,     ///< by what the event is
  measured,  ///< by a run of skidscan on the same machine
};
SKID_NAMES(SkidSource, "none", "known", "measured")

struct Skid {
  Verdict verdict = Verdict::refused;
  std::optional<unsigned> instructions;  ///< nullopt: no constant that is known
  SkidSource source = SkidSource::none;
  std::string reason;  ///< a sentence: of a refusal, or why there is nothing to do
  std::string advice;  ///< what gives a better profile; may be empty
  std::string run;     ///< that measured it; empty: none
  std::vector<measure::Compared> compared;  ///< with `run`
};

/// `measured`: the measurements of --skid; nullopt: not given. The verdict is `corrected` where the
/// skid is a constant of 1 to kLongestSkid instructions.
Skid skid_of(const measure::RecordedEvent& event,
             std::optional<std::span<const analysis::Measurement>> measured);

}  // namespace skid::correct
