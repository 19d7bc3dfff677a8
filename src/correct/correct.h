// A profile with a constant skid taken out of its counts.
#pragma once

#include "analysis/not_judged.h"
#include "src/measure/event_description.h"
#include "src/measure/measure.h"
#include "src/measure/run_comparison.h"
#include "src/support/names.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

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
  std::optional<unsigned> instructions = {};  ///< nullopt: no constant that is known
  SkidSource source = SkidSource::none;
  std::string reason = {};  ///< a sentence: of a refusal, or why there is nothing to do
  std::string advice = {};  ///< what gives a better profile; may be empty
  std::string run = {};     ///< that measured it; empty: none
  std::vector<measure::Compared> compared = {};  ///< with `run`
};

/// By how many instructions the samples of an event skidded, where that is one number, or why it is
/// not to be taken out. `measured`: the measurements of --skid; nullopt: not given. The verdict is
/// `corrected` where the skid is a constant of 1 to kLongestSkid instructions.
Skid skid_of(const measure::RecordedEvent& event,
             std::optional<std::span<const analysis::Measurement>> measured);

/// What counts are added up by.
enum class By : std::uint8_t { instruction, line, block, function };
SKID_NAMES(By, "instruction", "line", "block", "function")

/// What the split of samples with several candidates is based on.
enum class SplitBy : std::uint8_t {
  equal_shares,    ///< each candidate the same share: a guess
  branch_records,  ///< by which ways samples came, by the newest branch record of each
};
inline constexpr std::size_t kSplitBys = 2;
SKID_NAMES(SplitBy, "equal_shares", "branch_records")

/// Samples as recorded and as corrected. low <= corrected <= high, whatever the true split is. A
/// sample whose cause is not known stays, is not in `low`, and may belong to any other place.
struct Counts {
  std::uint64_t recorded = 0, corrected = 0, low = 0, high = 0;
};

struct Place : Counts {
  std::string module;  ///< path as recorded; empty: nothing is known to be mapped
  std::optional<std::uint64_t>
      address;               ///< link-time, of the first byte; as recorded of the kernel
  std::string symbol;        ///< empty: none is known
  std::uint64_t offset = 0;  ///< from the symbol's first byte
  std::string source_file;   ///< empty: unknown
  int source_line = 0;
};

/// The correction of one event of a recording. Where it was corrected, samples = moved + in_place +
/// split + unexplained + unknown + the sum of `not_placed`.
struct EventCorrection : measure::EventSummary {
  Skid skid;
  std::uint64_t samples = 0;
  std::uint64_t moved = 0;        ///< to the one instruction that can have caused the event
  std::uint64_t in_place = 0;     ///< that instruction is the sampled one (REP strings)
  std::uint64_t split = 0;        ///< between several
  std::uint64_t unexplained = 0;  ///< no predecessor can have caused the event: stay
  std::uint64_t unknown = 0;      ///< only one that is not known can: stay
  std::array<std::uint64_t, analysis::kNotJudged> not_placed = {};  ///< by NotJudged: stay
  std::array<std::uint64_t, kSplitBys> split_by = {};               ///< of `split`
  /// Most corrected samples first. Both their recorded and their corrected counts add up to
  /// `samples`. Empty where refused.
  std::deque<Place> places;
};

/// Of one recording.
struct Correction : measure::RecordingSummary {
  By by = By::instruction;
  std::vector<EventCorrection> events;
  bool is_written = false;  ///< Choices::output, because an event was corrected
};

struct Choices : measure::ReadingChoices {
  By by = By::instruction;
  std::optional<std::span<const analysis::Measurement>> measured = {};  ///< --skid
  std::filesystem::path output = {};  ///< the corrected recording (rewrite.h); empty: none
};

/// The model does not fit above this share of samples without an explanation: 5%.
inline constexpr double kMostUnexplained = 0.05;
/// An event is corrected only in part above this share of samples that stay for any reason, or that
/// have an unknown candidate: 5%.
inline constexpr double kMostUnplaced = 0.05;

/// Reads and corrects a recording. Several threads may do so at once. Memory grows with distinct
/// (event, place), never with samples. Throws InputError when nothing of it can be read, or it was
/// corrected before; as write_corrected() with an output.
Correction correct(const measure::Source& source, const Choices& choices);

}  // namespace skid::correct
