// Counting samples by file and offset, straight from the bytes of a recording.
#pragma once

#include "src/locate/located_counts.h"
#include "src/locate/region_cache.h"
#include "src/perfdata/sample_times.h"
#include "src/support/hash.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace skid::perfdata {
struct BulkLayout;
struct Record;
class SampleDecoder;
}  // namespace skid::perfdata

namespace skid::symbols {
class AddressSpaces;
}  // namespace skid::symbols

namespace skid::locate {

class SampleFilter;
struct Filtered;

/// Counts samples by the place where they were taken, and in total by event. Takes at most 60 bytes
/// per distinct (place, event), and 120 per block of a file in which there are any. Only one thread
/// at a time may use a counter.
class PlaceCounter {
 public:
  /// All arguments must outlive the counter. `keeps_addresses`: samples in one place of a file that
  /// is mapped at different addresses are counted separately. `filter`: decides which samples are
  /// counted; null: all are. `filtered`: counts selected and rejected samples; may be null.
  PlaceCounter(const perfdata::BulkLayout& layout, const perfdata::SampleDecoder& decoder,
               const symbols::AddressSpaces& spaces, bool keeps_addresses,
               const SampleFilter* filter = nullptr, Filtered* filtered = nullptr);

  /// Counts the samples among whole records, the first of which is at `position`
  /// (Record::position). Returns the size of the whole records: less than all if the bytes do not
  /// end with one.
  std::size_t count(std::span<const std::byte> records, std::uint64_t position);
  /// Counts the sample in a record; nothing if it does not belong to an event or is too short.
  void count(const perfdata::Record& record);

  /// Adds all that another counter counted.
  void merge(PlaceCounter& other);
  /// Returns the counts, which this counter no longer has afterwards.
  LocatedCounts take_counts();

  /// Returns the totals of each attribute, by its index.
  const std::vector<EventTotals>& totals() const noexcept { return totals_; }
  /// Notes the times of the samples that are counted from now on. It takes time for each.
  void note_times() noexcept { notes_times_ = true; }
  /// Returns the times that were noted, also of samples that the filter does not select.
  const perfdata::SampleTimes& times() const noexcept { return times_; }
  /// Returns how many samples were left out because their id belongs to no event.
  std::uint64_t unknown_ids() const noexcept { return unknown_ids_; }

 private:
  using Block = LocatedCounts::Block;
  using Count = LocatedCounts::Count;

  struct BlockHash {
    /// Returns the hash of a block. Not noexcept, so that the map stores hashes in its nodes.
    std::size_t operator()(const Block& block) const;
    std::uint64_t seed;
  };

  /// Keys that are counted together, so that their cache misses overlap.
  struct Batch {
    std::array<std::uint64_t, 32> keys;
    std::array<std::size_t, 32> slots;  ///< where each search begins
    std::size_t used = 0;
  };

  void note_times_of(std::span<const std::byte> records);
  template <bool kManyEvents>
  std::size_t count_samples(std::span<const std::byte> records, std::uint64_t position);
  std::size_t count_one(std::span<const std::byte> records, std::uint64_t position);
  std::uint64_t key_of(AddressSpace space, std::uint64_t ip, std::uint64_t time,
                       std::uint64_t event);
  void add_counters(RegionCache::Place& place, std::uint64_t ip);
  std::uint64_t block_key(const Block& block);
  std::size_t slot_of(std::uint64_t key) const noexcept;
  Count& count_of(std::uint64_t key);
  void grow();
  void add_to(Batch& batch, std::uint64_t key);
  void count_batch(Batch& batch);

  const perfdata::BulkLayout& layout_;
  const perfdata::SampleDecoder& decoder_;
  bool keeps_addresses_;
  const SampleFilter* filter_;
  Filtered* filtered_;
  RegionCache regions_;
  std::vector<EventTotals> totals_;
  bool notes_times_ = false;
  perfdata::SampleTimes times_;
  std::uint64_t unknown_ids_ = 0;

  std::vector<Block> blocks_;  ///< the first is unused: a key of 0 is a free slot
  std::unordered_map<Block, std::uint32_t, BlockHash> block_numbers_{0, BlockHash{random_seed()}};
  /// A power of two of slots in open addressing; those whose key is 0 are free.
  std::vector<Count> counts_;
  std::size_t used_ = 0;
  unsigned shift_;  ///< 64 - log2(slots)
  /// A random odd number, so that a recording cannot be made to collide. Multiplication by it is a
  /// universal hash: Dietzfelbinger et al., "A Reliable Randomized Algorithm for the Closest-Pair
  /// Problem", 1997.
  std::uint64_t factor_;
};

}  // namespace skid::locate
