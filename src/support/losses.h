// What is missing of a recording by its own records.
#pragma once

#include <cstdint>
#include <optional>

namespace skid {

/// Samples and other records that the kernel could not write, and pauses that it made.
struct Losses {
  std::uint64_t lost_records = 0;  ///< sum of PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;  ///< sum of PERF_RECORD_LOST_SAMPLES; may be the same loss
  std::uint64_t throttled = 0;     ///< PERF_RECORD_THROTTLE records
  /// Share of the recorded time for which the counter that was throttled longest took no samples;
  /// nullopt: not throttled, or the recording has no times.
  std::optional<double> throttled_share = {};
  /// PERF_RECORD_AUXes, and those with each flag: data was lost because the buffer was full, the
  /// data end inside of a record, records were lost because two operations were sampled at once.
  std::uint64_t aux_records = 0, aux_truncated = 0, aux_partial = 0, aux_collisions = 0;
};

}  // namespace skid
