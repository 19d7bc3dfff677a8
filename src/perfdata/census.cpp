#include "src/perfdata/census.h"

#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"

#include <cstddef>
#include <optional>

namespace skid::perfdata {
namespace {

void count_sample(const Record& record, Recording& recording, Census& census) {
  const auto sample = recording.decode(record);
  if (!sample) return;
  const std::size_t event = sample->attribute;
  if (event >= census.events.size()) census.events.resize(event + 1);
  ++census.events[event].samples;
  if (sample->exact) ++census.events[event].exact_ip;
}

void count_lost(const Record& record, std::optional<std::uint64_t> lost, Recording& recording,
                std::uint64_t& sum) {
  if (lost) {
    sum += *lost;
  } else {
    recording.add_short_record(record);
  }
}

}  // namespace

std::uint64_t Census::total_records() const noexcept {
  std::uint64_t total = 0;
  for (const auto& [type, count] : records) total += count;
  return total;
}

std::uint64_t Census::total_samples() const noexcept {
  const auto found = records.find(PERF_RECORD_SAMPLE);
  return found == records.end() ? 0 : found->second;
}

Census take_census(Recording& recording) {
  Census census;
  census.events.resize(recording.attributes().size());
  Record record;
  while (recording.next(record)) {
    ++census.records[record.type];
    if (record.type == PERF_RECORD_SAMPLE) {
      count_sample(record, recording, census);
    } else if (record.type == PERF_RECORD_LOST) {
      count_lost(record, parse_lost(record, recording.byte_order()), recording,
                 census.lost_records);
    } else if (record.type == PERF_RECORD_LOST_SAMPLES) {
      count_lost(record, parse_lost_samples(record, recording.byte_order()), recording,
                 census.lost_samples);
    }
  }
  census.left_out = recording.left_out();
  return census;
}

}  // namespace skid::perfdata
