// The records of a recording, counted by type and event.
#pragma once

#include "src/perfdata/recording.h"
#include "src/perfdata/repeated_records.h"
#include "src/support/losses.h"

#include <cstdint>
#include <map>
#include <vector>

namespace skid::perfdata {

/// Counts of all records. Samples are decoded only to determine their event.
struct RecordCounts : Losses {
  /// Samples of one event.
  struct Event {
    std::uint64_t samples = 0;
    std::uint64_t exact_ip = 0;  ///< samples with PERF_RECORD_MISC_EXACT_IP
  };

  std::map<std::uint32_t, std::uint64_t> records;  ///< by type, including unknown types
  std::uint64_t traced = 0;                        ///< samples that a hardware trace has
  std::vector<Event> events;                       ///< by index of the event
  Recording::LeftOut left_out;
  RepeatedRecords repeated;

  /// Returns the number of all records.
  std::uint64_t total_records() const noexcept;
  /// Returns the number of PERF_RECORD_SAMPLEs and of samples in a hardware trace.
  std::uint64_t total_samples() const noexcept;
};

/// Reads `recording` to its end and counts its records. Faults are listed in the recording.
RecordCounts count_records(Recording& recording);

}  // namespace skid::perfdata
