// The values of counters in a sample (PERF_SAMPLE_READ).
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/byte_reader.h"

#include <cstdint>

#include <linux/perf_event.h>

namespace skid::perfdata {

/// A counter when a sample was taken.
struct CounterValue {
  std::uint64_t id = 0;                              ///< id of the counter; 0: none
  std::uint64_t value = 0;                           ///< events
  std::uint64_t time_enabled = 0, time_running = 0;  ///< ns; 0 if not recorded
  std::uint64_t lost = 0;  ///< lost records of the event so far; 0 if not recorded
};

/// Reads one value, or those of a group, depending on `read_format` (perf_event_read_format in
/// include/uapi/linux/perf_event.h), and calls visit(CounterValue) for each. Fails if fewer remain.
template <typename Visit>
void read_counters(ByteReader& reader, std::uint64_t read_format, Visit visit) {
  const auto word_if = [&](std::uint64_t bit) {
    return (read_format & bit) != 0 ? reader.u64() : 0;
  };
  const bool is_group = (read_format & PERF_FORMAT_GROUP) != 0;
  const std::uint64_t values = is_group ? reader.u64() : 1;
  CounterValue counter;
  if (!is_group) counter.value = reader.u64();
  counter.time_enabled = word_if(PERF_FORMAT_TOTAL_TIME_ENABLED);
  counter.time_running = word_if(PERF_FORMAT_TOTAL_TIME_RUNNING);
  for (std::uint64_t i = 0; i < values; ++i) {
    if (is_group) counter.value = reader.u64();
    counter.id = word_if(PERF_FORMAT_ID);
    counter.lost = word_if(PERF_FORMAT_LOST);
    if (reader.failed()) return;
    visit(counter);
  }
}

}  // namespace skid::perfdata
