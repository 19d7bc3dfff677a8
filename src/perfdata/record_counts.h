// Records counted, and those that perf record wrote twice.
#pragma once

#include "src/perfdata/recording.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace skid::perfdata {

struct BulkLayout;

/// Blocks of records before a PERF_RECORD_FINISHED_ROUND that are repeated after it. So that they
/// cannot be chance, the last record is a sample and later than the first sample of the block.
/// perf_mmap__push() reads the head of a ring buffer, perf_mmap__read_init() reads it again
/// (tools/perf/util/mmap.c), and `prev` becomes the older one: what came between is written again.
struct RepeatedRecords {
  std::uint64_t blocks = 0;
  std::uint64_t records = 0, samples = 0;  ///< of all blocks, each once
  std::uint64_t offset = 0;                ///< in the file, where the first block is repeated

  /// Notes a sample that ends at an offset in the file.
  void pass(std::uint64_t end, std::uint64_t time) noexcept { last_end = end, last_time = time; }
  /// Compares the records before a PERF_RECORD_FINISHED_ROUND with the bytes `after` it, which are
  /// the beginning of `rest`. Takes bounded time.
  void check(const Recording& recording, const Recording::StoredRecords& rest,
             std::span<const std::byte> after, const BulkLayout& layout);
  /// Adds those of a later part of the recording.
  void add(const RepeatedRecords& later);
  std::string warning() const;  ///< empty if there are none

  std::uint64_t last_end = 0, last_time = 0;  ///< of the sample that was noted last
};

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
