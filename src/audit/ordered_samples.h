// The samples of events whose blocks are judged, in the order in which a thread caused them.
#pragma once

#include "src/audit/block_bias.h"
#include "src/locate/digest.h"
#include "src/perfdata/recording.h"
#include "src/symbols/address_space.h"

#include <cstdint>
#include <map>
#include <vector>

namespace skid::audit {

struct OrderedSample {
  std::uint32_t attribute = 0;
  std::int32_t tid = 0;
  /// Samples with equal numbers are of one CPU, and no record was lost or throttled between them.
  /// `file` is kNoFile where blocks are not judged by the sample.
  std::uint64_t stretch = 0;
  symbols::FileLocation location;
};

/// The first million samples of the events in `rules`, by attribute and thread, in the order of the
/// recording. `rules`: by attribute, of events with a fixed period.
std::vector<OrderedSample> ordered_samples(perfdata::Recording& recording,
                                           const locate::Digest& digest,
                                           const std::map<std::uint32_t, BlockRule>& rules);

}  // namespace skid::audit
