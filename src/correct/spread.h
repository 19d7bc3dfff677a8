// The samples of an event while they are corrected, and the instructions that can have caused them.
#pragma once

#include "src/correct/correction.h"
#include "src/events/causes.h"
#include "src/symbols/file_location.h"
#include "src/symbols/region.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace skid::correct {

/// A place to which samples are assigned.
struct SpreadPlace {
  symbols::FileIndex file = symbols::Region::kNoFile;
  bool is_linked = false;  ///< `address` is link-time; else it is of the kernel, or a file offset
  std::uint64_t address = 0;

  friend auto operator<=>(const SpreadPlace&, const SpreadPlace&) = default;
};

/// Samples at one instruction, and the instructions of which one caused each of them.
struct Spread {
  SpreadPlace place;
  std::uint64_t samples = 0;
  std::vector<SpreadPlace> candidates;  ///< each once
  bool is_open = false;                 ///< the cause of some or all may be none of the candidates
  /// The candidate that caused them by all evidence, to which they move; nullopt: none is left
  /// alone.
  std::optional<SpreadPlace> likely = {};
};

struct CorrectedEvent {
  std::vector<events::Cause> causes;
  bool watches_file = false;  ///< a breakpoint at data of a file
  EventCorrection correction;
  std::vector<Spread> spreads;
  std::uint64_t only_sampled = 0;    ///< samples that only the sampled instruction explains
  std::uint64_t only_preceding = 0;  ///< samples that only a preceding instruction explains
};
using CorrectedEvents = std::map<std::uint32_t, CorrectedEvent>;  ///< events by attribute

}  // namespace skid::correct
