#include "src/locate/second_half.h"

#include "src/locate/pieces.h"
#include "src/locate/place_counter.h"
#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/byte_stream.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/stored_records.h"
#include "src/support/byte_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <linux/perf_event.h>

namespace skid::locate {

using perfdata::Recording;
using perfdata::StoredRecords;

namespace {

constexpr std::size_t kOthers = std::size_t{256} << 10;        ///< bytes in a SecondHalf::others
constexpr std::size_t kMostOthers = 128;                       ///< maximum number of these
constexpr std::uint64_t kSearched = std::uint64_t{256} << 10;  ///< bytes searched for a boundary
/// A boundary is where this many plausible headers follow each other.
constexpr int kHeaders = 64;

/// Whether `bytes` begin with kHeaders plausible records.
bool has_headers_at(std::span<const std::byte> bytes) {
  for (int headers = 0; headers < kHeaders; ++headers) {
    if (bytes.size() < perfdata::kRecordHeader) return false;
    perfdata::Record record;
    const auto size = perfdata::read_record_header(bytes, ByteOrder::little, record);
    const bool is_plausible = may_be_in_piece(record.type) && size >= perfdata::kRecordHeader &&
                              size % perfdata::kRecordHeader == 0;
    if (!is_plausible || size > bytes.size()) return false;
    bytes = bytes.subspan(size);
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> guess_boundary(const Recording& recording, const StoredRecords& rest) {
  StoredRecords searched = rest;
  // The kernel pads records to eight bytes, and so does perf.
  searched.begin += rest.size() / 2 / perfdata::kRecordHeader * perfdata::kRecordHeader;
  searched.end = std::min(rest.end, searched.begin + kSearched);
  std::vector<std::byte> memory(static_cast<std::size_t>(searched.size()));
  memory.resize(recording.read(searched, memory.data()));
  for (std::size_t at = 0; at < memory.size(); at += perfdata::kRecordHeader) {
    // RepeatedRecords needs the sample before the end of a round.
    if (memory[at] == std::byte{perfdata::PERF_RECORD_FINISHED_ROUND}) continue;
    if (has_headers_at(std::span(memory).subspan(at))) return searched.begin + at;
  }
  return std::nullopt;
}

std::optional<SecondHalf> walk_second_half(const Recording& recording, const StoredRecords& rest,
                                           const perfdata::BulkLayout& layout, std::uint64_t piece,
                                           PlaceCounter* counter) {
  SecondHalf half;
  half.segment = rest.segment;
  auto stream = recording.stream_of(rest);
  const auto stored = [&](std::uint64_t size) {
    const std::uint64_t begin = stream.position();
    return StoredRecords{rest.segment, begin, begin + size, rest.position + (begin - rest.begin)};
  };
  for (;;) {
    std::uint64_t last_time = 0;
    const std::size_t samples = layout.samples_at_front(stream.buffered(), &last_time);
    if (samples > 0) {
      const auto run = stored(samples);
      half.repeated.pass(run.end, last_time);
      if (counter != nullptr) counter->count(stream.buffered().first(samples), run.position);
      append_piece(half.pieces, run, piece);
      stream.consume(samples);
    }
    if (!stream.fill(perfdata::kRecordHeader)) break;
    perfdata::Record record;
    const std::size_t size =
        perfdata::read_record_header(stream.buffered(), ByteOrder::little, record);
    const bool is_whole = size >= perfdata::kRecordHeader && stream.fill(size);
    if (!is_whole) return std::nullopt;
    const auto bytes = stream.buffered().first(size);
    if (record.type == PERF_RECORD_SAMPLE) {
      if (layout.samples_at_front(bytes) == 0) return std::nullopt;  // the sample is too short
      continue;
    }
    if (is_kernel_record(record.type)) {
      if (half.others.empty() || half.others.back().size() + size > kOthers) {
        if (half.others.size() == kMostOthers) return std::nullopt;
        half.others.emplace_back().reserve(kOthers);
      }
      half.others.back().insert(half.others.back().end(), bytes.begin(), bytes.end());
      half.offsets.push_back(stream.position());
    } else if (record.type != perfdata::PERF_RECORD_FINISHED_ROUND) {
      return std::nullopt;
    }
    extend_piece(half.pieces, stored(size), piece);
    stream.consume(size);
    if (record.type == perfdata::PERF_RECORD_FINISHED_ROUND) {
      stream.fill(perfdata::ByteStream::kLargestFill);
      half.repeated.check(recording, stored(0), stream.buffered(), layout);
    }
  }
  if (!stream.buffered().empty() || stream.read_error() != 0 || stream.left() != 0) {
    return std::nullopt;
  }
  return half;
}

}  // namespace skid::locate
