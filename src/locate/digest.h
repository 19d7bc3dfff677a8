// A recording read once: its samples counted and located, its losses added up.
#pragma once

#include "src/perfdata/recording.h"
#include "src/perfdata/sample_counts.h"
#include "src/symbols/address_space.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace skid::locate {

/// All samples of one event at one address of one process, in one mode.
struct LocatedSamples {
  perfdata::SampleKey key;
  std::optional<symbols::FileLocation> location;  ///< nullopt: nothing was mapped there
  std::uint64_t samples = 0;
  std::uint64_t period_sum = 0;  ///< events behind them, where the samples carry their period
};

struct Digest {
  std::vector<LocatedSamples> located;
  symbols::AddressSpaces spaces;
  std::uint64_t lost_records = 0;  ///< sum over PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;  ///< sum over PERF_RECORD_LOST_SAMPLES
  std::uint64_t throttled = 0;     ///< PERF_RECORD_THROTTLE records
  std::uint64_t unknown_ids = 0;   ///< samples whose id belongs to no event
};

/// Reads `recording` to its end. Memory grows with distinct (event, process, address) and with
/// mappings, not with samples. A place whose mapping changed between its first and last sample is
/// read a second time and split by time. Damage is listed in `recording.faults()`.
Digest digest(perfdata::Recording& recording);

}  // namespace skid::locate
