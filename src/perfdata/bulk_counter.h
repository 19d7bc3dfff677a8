// Samples counted straight from the buffer, at about the speed at which memory can be read.
#pragma once

#include "src/perfdata/sample.h"
#include "src/perfdata/sample_counts.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace skid::perfdata {

/// All samples of one event.
struct EventTotals {
  std::uint64_t samples = 0;
  std::uint64_t period_sum = 0;  ///< events behind them, where they carry their period
};

/// Counts samples into SampleCounts, each event's into its totals. It gives the same counts as
/// decoding sample by sample; what it spares is the decoding of all that does not matter here.
///
/// Three things make it fast. Most records look like the one before: the header is compared as one
/// word and the way to the next record is then known without waiting for it. Most samples of a
/// recorded target are at few thousand neighbouring addresses of one process: these are counted in
/// a dense window, whose place is chosen after the first samples. All others are collected and
/// looked up together, so that their cache misses overlap.
class BulkCounter {
 public:
  /// `counts` must outlive the counter.
  explicit BulkCounter(SampleCounts& counts);
  BulkCounter(const BulkCounter&) = delete;
  BulkCounter& operator=(const BulkCounter&) = delete;
  BulkCounter(BulkCounter&&) = delete;
  BulkCounter& operator=(BulkCounter&&) = delete;
  ~BulkCounter() = default;

  /// Takes over how samples are laid out. To be called before the first sample and whenever the
  /// recording's attributes changed, which may only have become more. `decoder` must outlive the
  /// counter.
  void use(const SampleDecoder& decoder);

  /// Counts the samples at the front of `bytes` (whole records; the last may be cut off), which
  /// begin at `position` of the recording. Ends at the first record that is no sample or a sample
  /// that only `SampleDecoder::decode` can judge, or where it likes. Returns the bytes that were
  /// counted.
  std::size_t count(std::span<const std::byte> bytes, std::uint64_t position);

  /// Counts a sample that was decoded, whose record ended at position `end`. `space`: space_of, or
  /// a number given to such a space.
  void count(const Sample& sample, std::uint64_t time, std::uint64_t end, std::int32_t space);

  /// A mapping changes here (TimeSlices::cut).
  void cut() { counts_.slices().cut(); }

  /// Brings everything into the counts. Nothing may be counted afterwards.
  void finish();

  /// By attribute.
  const std::vector<EventTotals>& totals() const noexcept { return totals_; }

 private:
  using Pending = std::vector<Sighting>;

  /// Counts by address, two planes an event: not exact, exact.
  struct Window {
    std::uint64_t base = 0;
    std::uint64_t size = 0;  ///< addresses; 0: there is no window
    std::int32_t space = 0;
    CpuMode mode = CpuMode::unknown;
    std::vector<std::uint32_t> cells;
    TimeSlices::Slice since = 0;       ///< the slice when it was last empty
    std::uint64_t most_in_a_cell = 0;  ///< at most so many samples are in any cell
  };

  template <bool kManyEvents>
  std::size_t count_samples(std::span<const std::byte> bytes, std::uint64_t position);
  void flush_pending();
  void choose_window();
  void empty_window();

  SampleCounts& counts_;
  std::vector<EventTotals> totals_;

  bool possible_ = false;       ///< whether samples are laid out so that bulk counting can be done
  bool has_one_layout_ = true;  ///< all events have the fields that matter here at the same places
  bool has_times_ = false;
  std::uint16_t ip_ = 0, tid_ = 0, time_ = 0;  ///< offsets behind the record header, of all events
  std::vector<std::uint16_t> period_;          ///< the same, by attribute
  const IdTable* ids_ = nullptr;
  std::uint16_t id_offset_ = 0;
  std::size_t record_size_ = 0;  ///< bytes that hold the header and the fixed fields of any event

  Pending pending_;
  Window window_;
  std::uint64_t counted_ = 0;
  bool window_was_chosen_ = false;
};

}  // namespace skid::perfdata
