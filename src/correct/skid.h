// The skid of an event that can be corrected, or the reason why it cannot.
#pragma once

#include "src/measure/run_comparison.h"
#include "src/support/names.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::measure {
struct RecordedEvent;
}  // namespace skid::measure

namespace skid::correct {

enum class Verdict : std::uint8_t {
  corrected,
  corrected_in_part,  ///< the cause of more than kMostUnplaced of the samples is open
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
  known,     ///< the kind of the event determines the skid
  measured,  ///< a run of skidscan on the same machine measured the skid
};
SKID_NAMES(SkidSource, "none", "known", "measured")

struct Skid {
  Verdict verdict = Verdict::refused;
  std::optional<unsigned> instructions = {};  ///< nullopt: no constant skid is known
  SkidSource source = SkidSource::none;
  std::string reason = {};  ///< a sentence: why it is refused, or why there is nothing to correct
  std::string advice = {};  ///< what gives a better profile; may be empty
  std::string run = {};     ///< run that measured the skid; empty: none
  std::vector<measure::Compared> compared = {};  ///< comparison with `run`
};

/// Returns by how many instructions the samples of an event skidded, if that is a single number, or
/// why it is not to be corrected. `measured`: the measurements of --skid; nullopt: not given. The
/// verdict is `corrected` if the skid is one instruction, the only constant of hardware but 0
/// (Intel SDM Vol. 3B, "PEBS Record Format").
Skid skid_of(const measure::RecordedEvent& event,
             std::optional<std::span<const analysis::Measurement>> measured);

}  // namespace skid::correct
