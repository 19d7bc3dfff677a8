// The truth about the samples of one event at one level.
#pragma once

#include "analysis/tally.h"
#include "src/synth/drawn_sample.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace skid::synth {

/// Numbers of samples by the data address that they have, as in AddressShares.
struct DataCounts {
  std::uint64_t cause = 0, elsewhere = 0, none = 0;
};

/// The figures that a report of these samples must contain.
struct Truth {
  analysis::Breakdown samples;
  std::uint64_t exact_ip_samples = 0;   ///< samples with EXACT_IP
  std::uint64_t exact_hits = 0;         ///< hits with EXACT_IP
  std::uint64_t exact_off_trigger = 0;  ///< judged samples with EXACT_IP that are not hits
  std::map<std::int64_t, std::uint64_t> offsets;  ///< samples by offset in instructions
  /// Samples by offset as drawn: not cut off by the end of the runway, or by the next trigger.
  std::map<std::int64_t, std::uint64_t> drawn;
  std::uint64_t wrapped = 0;  ///< samples whose skid ended in another iteration
  std::vector<analysis::TriggerCount> triggers;
  std::vector<double> trigger_shares;  ///< share of each trigger in samples placed by an offset
  std::optional<DataCounts> data;      ///< nullopt without PERF_SAMPLE_ADDR
  std::map<DrawnSample, std::uint64_t> places;
};

}  // namespace skid::synth
