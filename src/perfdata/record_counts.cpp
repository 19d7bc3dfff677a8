#include "src/perfdata/record_counts.h"

#include "src/perfdata/byte_stream.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/sample.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::perfdata {
namespace {

void count_sample(const Record& record, Recording& recording, RecordCounts& record_counts) {
  const auto sample = recording.decode(record);
  if (!sample) return;
  record_counts.repeated.pass(record.offset + kRecordHeader + record.body.size(), sample->time);
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
  return found == records.end() ? 0 : found->second;
}

RecordCounts count_records(Recording& recording) {
  RecordCounts record_counts;
  record_counts.events.resize(recording.attributes().size());
  BulkLayout layout;
  Record record;
  while (recording.next(record)) {
    ++record_counts.records[record.type];
    if (record.type == PERF_RECORD_SAMPLE) {
      count_sample(record, recording, record_counts);
    } else if (record.type == PERF_RECORD_FINISHED_ROUND) {
      layout.use(recording.decoder());
      record_counts.repeated.check(recording, recording.stored(), recording.buffered(), layout);
    } else {
      recording.add_lost(record, record_counts.lost_records, record_counts.lost_samples);
    }
  }
  record_counts.left_out = recording.left_out();
  return record_counts;
}

void RepeatedRecords::add(const RepeatedRecords& later) {
  if (blocks == 0) offset = later.offset;
  blocks += later.blocks;
  records += later.records;
  samples += later.samples;
}

std::string RepeatedRecords::warning() const {
  if (blocks == 0) return {};
  return fmt::format(
      "perf record wrote {} samples twice, which are counted twice: {} records before ends of "
      "rounds and again after them ({} times, first at {:#x}); record again",
      samples, records, blocks, offset);
}

void RepeatedRecords::check(const Recording& recording, const Recording::StoredRecords& rest,
                            std::span<const std::byte> after, const BulkLayout& layout) {
  const std::uint64_t round = rest.begin - kRecordHeader;
  if (last_end != round || !layout.possible || !layout.has_times) return;
  const std::size_t most = std::min<std::uint64_t>({after.size(), ByteStream::kLargestFill, round});
  std::vector<std::byte> before;
  std::size_t compared = 0;
  RepeatedRecords block{.blocks = 1, .offset = rest.begin};
  for (std::size_t size = 0; most - size >= HeaderWord::kSize;) {
    const std::byte* const at = after.data() + size;
    const HeaderWord word = HeaderWord::at(at);
    const bool is_sample = word.type() == PERF_RECORD_SAMPLE;
    const std::size_t least = is_sample ? layout.record_size : HeaderWord::kSize;
    if (word.type() >= PERF_RECORD_HEADER_ATTR || word.size() < least) return;
    if (word.size() > most - size) return;
    size += word.size();
    ++block.records;
    if (!is_sample) continue;
    const auto time = load<std::uint64_t>(at + HeaderWord::kSize + layout.time);
    if (block.samples++ == 0 && time >= last_time) return;
    if (time != last_time) continue;
    if (before.empty()) {
      before.resize(most);
      if (recording.read({rest.segment, round - most, round, 0}, before.data()) != most) return;
    }
    const auto begin = before.end() - static_cast<std::ptrdiff_t>(size);
    const auto differs = std::mismatch(begin, before.end(), after.begin()).first;
    if (differs == before.end()) return add(block);
    // Many samples may have one time.
    compared += static_cast<std::size_t>(differs - begin);
    if (compared > 4 * ByteStream::kLargestFill) return;
  }
}

}  // namespace skid::perfdata
