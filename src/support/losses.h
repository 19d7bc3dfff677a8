// What is missing of a recording by its own records.
#pragma once

#include <cstdint>

namespace skid {

/// Samples and other records that the kernel could not write, and pauses that it made.
struct Losses {
  std::uint64_t lost_records = 0;  ///< sum of PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;  ///< sum of PERF_RECORD_LOST_SAMPLES; may be the same loss
  std::uint64_t throttled = 0;     ///< PERF_RECORD_THROTTLE records
};

}  // namespace skid
