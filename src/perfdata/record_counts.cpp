#include "src/perfdata/record_counts.h"

#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_times.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <linux/perf_event.h>

namespace skid::perfdata {
namespace {

void count_sample(const Record& record, Recording& recording, RecordCounts& record_counts,
                  SampleTimes& times) {
  const auto sample = recording.decode(record);
  if (!sample) return;
  times.add(sample->time);
  if (!recording.is_in_trace()) {
    record_counts.repeated.pass(record.offset + kRecordHeader + record.body.size(), sample->time);
  }
  const std::size_t event = sample->attribute;
  if (event >= record_counts.events.size()) record_counts.events.resize(event + 1);
  ++record_counts.events[event].samples;
  if (sample->exact) ++record_counts.events[event].exact_ip;
}

}  // namespace

std::uint64_t RecordCounts::total_records() const noexcept {
  std::uint64_t total = 0;
  for (const auto& [type, count] : records) total += count;
  return total;
}

std::uint64_t RecordCounts::total_samples() const noexcept {
  const auto found = records.find(PERF_RECORD_SAMPLE);
  return traced + (found == records.end() ? 0 : found->second);
}

RecordCounts count_records(Recording& recording) {
  RecordCounts record_counts;
  BulkLayout layout;
  SampleTimes times;
  Record record;
  while (recording.next(record)) {
    if (recording.is_in_trace()) {
      ++record_counts.traced;
    } else {
      ++record_counts.records[record.type];
    }
    if (record.type == PERF_RECORD_SAMPLE) {
      count_sample(record, recording, record_counts, times);
    } else if (record.type == PERF_RECORD_FINISHED_ROUND) {
      layout.use(recording.decoder());
      record_counts.repeated.check(recording, recording.stored(), recording.buffered(), layout);
    } else {
      recording.add_losses(record, record_counts);
    }
  }
  // A pipe describes events up to its end.
  record_counts.events.resize(recording.attributes().size());
  record_counts.left_out = recording.left_out();
  record_counts.throttled_share = times.share_of(recording.longest_throttle());
  return record_counts;
}

}  // namespace skid::perfdata
