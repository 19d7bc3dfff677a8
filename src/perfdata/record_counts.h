// Sums over the records of a recording, which is read once from front to back.
#pragma once

#include "src/perfdata/recording.h"
#include "src/perfdata/repeated_records.h"

#include <cstdint>
#include <map>
#include <vector>

namespace skid::perfdata {

/// Counts of all records; samples are decoded only to find their event.
struct RecordCounts {
  /// Samples of one event.
  struct Event {
    std::uint64_t samples = 0;
    std::uint64_t exact_ip = 0;  ///< of them with PERF_RECORD_MISC_EXACT_IP
  };

  std::map<std::uint32_t, std::uint64_t> records;  ///< by type, also by types not known here
  std::vector<Event> events;                       ///< by index of the event
  Recording::LeftOut left_out;
  std::uint64_t lost_records = 0;  ///< sum over PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;  ///< sum over PERF_RECORD_LOST_SAMPLES
  RepeatedRecords repeated;

  /// All records; PERF_RECORD_SAMPLE alone.
  std::uint64_t total_records() const noexcept;
  std::uint64_t total_samples() const noexcept;
};

/// Reads `recording` to its end. The recording lists faults that are found.
RecordCounts count_records(Recording& recording);

}  // namespace skid::perfdata
