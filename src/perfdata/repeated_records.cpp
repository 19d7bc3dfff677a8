#include "src/perfdata/repeated_records.h"

#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/byte_stream.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/stored_records.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::perfdata {

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

void RepeatedRecords::check(const Recording& recording, const StoredRecords& rest,
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
    // Bounds the time: many samples may have one time.
    compared += static_cast<std::size_t>(differs - begin);
    if (compared > 4 * ByteStream::kLargestFill) return;
  }
}

}  // namespace skid::perfdata
