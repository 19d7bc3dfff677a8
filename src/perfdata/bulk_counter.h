// Samples counted straight from the buffer, at about the speed at which memory can be read.
#pragma once

#include "src/perfdata/bulk_layout.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_counts.h"
#include "src/perfdata/sample_scanner.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace skid::perfdata {

/// All samples of one event.
struct EventTotals {
  std::uint64_t samples = 0;
  std::uint64_t period_sum = 0;  ///< sum of their periods, if recorded
};

/// Counts samples into SampleCounts, and into totals by event. The counts equal those of decoding
/// sample by sample, without decoding the fields that are not needed.
///
/// Most samples of a recorded target are at few thousand neighbouring addresses of one process:
/// these are counted in a dense window, which is chosen after the first samples. All others
/// are collected and looked up in batches, so that their cache misses overlap.
class BulkCounter {
 public:
  /// Both must outlive the counter.
  BulkCounter(const BulkLayout& layout, SampleCounts& counts);
  BulkCounter(const BulkCounter&) = delete;
  BulkCounter& operator=(const BulkCounter&) = delete;
  BulkCounter(BulkCounter&&) = delete;
  BulkCounter& operator=(BulkCounter&&) = delete;
  ~BulkCounter() = default;

  /// Counts samples that a SampleScanner of the same layout found. The slices of one counter must
  /// not decrease.
  void count(const SampleRun& run);

  /// Counts a sample that was decoded, whose record ended at position `end`. `address_space`:
  /// address_space_of, or a number given to such an address space.
  void count(const Sample& sample, std::uint64_t time, std::uint64_t end,
             std::int32_t address_space, Slice slice);

  /// Adds all that another counter counted, which is empty afterwards.
  void merge(BulkCounter& other);

  /// Brings everything into the counts.
  void finish();

  /// By attribute; may be short of those without samples.
  const std::vector<EventTotals>& totals() const noexcept { return totals_; }
  /// Samples left out because their id belongs to no event.
  std::uint64_t unknown_ids() const noexcept { return unknown_ids_; }

 private:
  using Pending = std::vector<SampleKey>;

  /// Counts by address, two planes an event: not exact, exact.
  struct Window {
    std::uint64_t base = 0;
    std::uint64_t size = 0;  ///< addresses; 0: there is no window
    std::int32_t address_space = 0;
    CpuMode mode = CpuMode::unknown;
    std::vector<std::uint32_t> cells;
    Slice since = 0;                   ///< the slice when it was last empty
    std::uint64_t most_in_a_cell = 0;  ///< at most so many samples are in any cell
  };

  template <bool kManyEvents>
  void count_samples(const SampleRun& run);
  void flush_pending(Slice slice);
  void choose_window(Slice slice);
  void empty_window(Slice slice);
  void follow_layout();

  const BulkLayout& layout_;
  SampleCounts& counts_;
  std::vector<EventTotals> totals_;
  std::uint64_t unknown_ids_ = 0;

  Pending pending_;
  Window window_;
  Slice slice_ = 0;  ///< of what was counted last
  std::uint64_t counted_ = 0;
  bool window_was_chosen_ = false;
};

}  // namespace skid::perfdata
