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
  /// Equal numbers: no record was lost or throttled between them, and they are of one CPU. `file`
  /// is kNoFile where the sample is none of those that blocks are judged by.
  std::uint64_t stretch = 0;
  symbols::FileLocation location;
};

/// The first million samples of a recording of these events, by attribute and thread, in the order
/// of the recording. `rules`: by attribute, of events with a fixed period.
std::vector<OrderedSample> ordered_samples(perfdata::Recording& recording,
                                           const locate::Digest& digest,
                                           const std::map<std::uint32_t, BlockRule>& rules);

}  // namespace skid::audit
