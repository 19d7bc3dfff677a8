// The samples of an event while they are corrected, and the instructions that they are spread over.
#pragma once

#include "src/correct/correction.h"
#include "src/correct/rewrite.h"
#include "src/events/causes.h"
#include "src/perfdata/attribute.h"
#include "src/symbols/file_location.h"
#include "src/symbols/region.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace skid::correct {

/// A place to which samples are assigned.
struct SpreadPlace {
  symbols::FileIndex file = symbols::Region::kNoFile;
  bool is_linked = false;  ///< `address` is link-time; else it is of the kernel, or a file offset
  std::uint64_t address = 0;

  friend auto operator<=>(const SpreadPlace&, const SpreadPlace&) = default;
};

/// Samples at one instruction, and the candidates that they were spread over.
struct Spread {
  SpreadPlace place;
  std::uint64_t recorded = 0;
  std::vector<SpreadPlace> candidates;  ///< each once
  std::vector<std::uint64_t> samples;   ///< samples by candidate; their sum is `recorded`
  bool is_open = false;                 ///< the cause of some or all may be none of the candidates
};

/// Samples of one event at one place of a file. In recordings with a breakpoint they have one `ip`,
/// so that their processes map the file at the same address.
struct Sampled {
  symbols::FileIndex file = 0;
  std::uint64_t offset = 0;  ///< offset in the file
  std::uint64_t ip = 0;      ///< sampled address; 0 in recordings without a breakpoint
  std::uint32_t attribute = 0;
  std::uint64_t samples = 0;

  auto key() const { return std::tie(file, offset, ip, attribute); }
};

struct CorrectedEvent {
  perfdata::Attribute attribute;
  std::vector<events::Cause> causes;
  EventCorrection correction;
  std::vector<Spread> spreads;
  Moves moves;                         ///< moves of all samples at a place, for an output
  std::uint64_t may_be_elsewhere = 0;  ///< split samples with a candidate that is not known
  std::uint64_t only_sampled = 0;      ///< samples that only the sampled instruction explains
  std::uint64_t only_preceding = 0;    ///< samples that only a preceding instruction explains
};
using CorrectedEvents = std::map<std::uint32_t, CorrectedEvent>;  ///< events by attribute

}  // namespace skid::correct
