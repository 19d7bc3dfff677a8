// The correction of a recording: its samples by place, as recorded and as corrected.
#pragma once

#include "analysis/event_identity.h"
#include "analysis/not_judged.h"
#include "src/correct/skid.h"
#include "src/measure/measure.h"
#include "src/support/names.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace skid::correct {

/// The unit by which counts are added up.
enum class By : std::uint8_t { instruction, line, function };
SKID_NAMES(By, "instruction", "line", "function")

/// What showed which of several instructions caused a sample.
enum class DecidedBy : std::uint8_t {
  address,         ///< its data address and registers
  branch_records,  ///< its newest branch record
};
SKID_WORDS(DecidedBy, {"address", "by data address and registers"},
           {"branch_records", "by branch records"})
inline constexpr std::size_t kDecidedBys = words_of(DecidedBy{}).size();

/// Samples as recorded and as corrected. low <= corrected <= high. A sample stays unless all
/// instructions that can have caused it are in one place. One with a cause that is not known is not
/// in `low`, and may belong to any other place.
struct Counts {
  std::uint64_t recorded = 0, corrected = 0, low = 0, high = 0;
};

struct Place : Counts {
  std::string module;  ///< path as recorded; empty: nothing is known to be mapped
  /// Link-time address of the first byte; in the kernel as recorded.
  std::optional<std::uint64_t> address;
  std::string symbol;        ///< empty: none is known
  std::uint64_t offset = 0;  ///< bytes from the symbol's first byte
  std::string source_file;   ///< empty: unknown
  int source_line = 0;
};

/// The correction of one event of a recording. If it was corrected, samples = moved + in_place +
/// undecided + unexplained + unknown + the sum of `not_placed`.
struct EventCorrection {
  analysis::EventIdentity identity;
  int level = 0;                        ///< as recorded
  std::optional<std::uint64_t> period;  ///< requested; nullopt with a frequency
  Skid skid;
  std::uint64_t samples = 0;
  std::uint64_t moved = 0;        ///< moved to the one instruction that can have caused the event
  std::uint64_t in_place = 0;     ///< caused by the sampled instruction itself (REP strings)
  std::uint64_t undecided = 0;    ///< one of several instructions caused the event: they stay
  std::uint64_t unexplained = 0;  ///< no predecessor can have caused the event: they stay
  std::uint64_t unknown = 0;      ///< only a predecessor that is not known can: they stay
  /// Samples that stay because they cannot be judged, by NotJudged.
  std::array<std::uint64_t, analysis::kNotJudged> not_placed = {};
  /// Parts of `moved` and `in_place` with several possible instructions, by DecidedBy.
  std::array<std::uint64_t, kDecidedBys> decided_by = {};
  /// Most corrected samples first. Both their recorded and their corrected counts add up to
  /// `samples`. Empty if nothing is corrected.
  std::deque<Place> places;
};

/// The correction of one recording.
struct Correction : measure::RecordingSummary {
  By by = By::instruction;
  std::vector<EventCorrection> events;
  bool is_written = false;  ///< Choices::output was written, because an event was corrected
};

}  // namespace skid::correct
