// Records that perf record wrote twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace skid::perfdata {

struct BulkLayout;
class Recording;
struct StoredRecords;

/// Records that perf wrote twice: a block before a PERF_RECORD_FINISHED_ROUND, again after it. A
/// block counts only if its last record is a sample later than its first sample, which chance does
/// not give. The cause: perf_mmap__push() reads the head of a ring buffer, perf_mmap__read_init()
/// reads it again (tools/perf/util/mmap.c), and `prev` becomes the older head, so that records
/// between the two are written again.
struct RepeatedRecords {
  std::uint64_t blocks = 0;
  std::uint64_t records = 0, samples = 0;  ///< in all blocks, each counted once
  std::uint64_t offset = 0;                ///< where the first block is repeated in the file

  /// Notes a sample: `end` is its end in the file (bytes), `time` in ns.
  void pass(std::uint64_t end, std::uint64_t time) noexcept {
    last_end = end;
    last_time = time;
  }
  /// Compares the records before a PERF_RECORD_FINISHED_ROUND with the bytes `after` it, which are
  /// the beginning of `rest`. Takes bounded time.
  void check(const Recording& recording, const StoredRecords& rest,
             std::span<const std::byte> after, const BulkLayout& layout);
  /// Adds the blocks of a later part of the recording.
  void add(const RepeatedRecords& later);
  /// Returns a warning with the remedy; empty: nothing was repeated.
  std::string warning() const;

  std::uint64_t last_end = 0, last_time = 0;  ///< end and time of the last noted sample
};

}  // namespace skid::perfdata
