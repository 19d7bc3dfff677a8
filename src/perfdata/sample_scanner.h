// Finds the samples that can be counted in bulk, without looking into them.
#pragma once

#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/time_slices.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace skid::perfdata {

/// Consecutive samples in memory.
struct SampleRun {
  std::span<const std::byte> bytes;  ///< whole records, each long enough for the fixed fields
  std::uint64_t position = 0;        ///< of the first one (Record::position)
  Slice slice = 0;                   ///< that they belong to
};

/// Most records look like the one before: their headers are compared as one word, and the way to
/// the next record is then known without waiting for it.
class SampleScanner {
 public:
  /// Both must outlive the scanner.
  SampleScanner(const BulkLayout& layout, SliceNumbers& slices)
      : layout_(layout), slices_(slices) {}

  /// Finds the samples at the start of `bytes` (whole records; the last may be truncated), which
  /// begin at `position` of the recording, and appends them to `runs`. Ends at the first record
  /// that is not a sample or needs SampleDecoder. Returns the size of the runs in bytes.
  std::size_t scan(std::span<const std::byte> bytes, std::uint64_t position,
                   std::vector<SampleRun>& runs);

 private:
  const BulkLayout& layout_;
  SliceNumbers& slices_;
};

}  // namespace skid::perfdata
