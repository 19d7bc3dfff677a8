// Samples counted by file and offset, straight from the bytes of a recording.
#pragma once

#include "src/locate/region_cache.h"
#include "src/perfdata/format.h"
#include "src/perfdata/metadata.h"
#include "src/perfdata/sample.h"
#include "src/support/hash.h"
#include "src/symbols/address_space.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace skid::perfdata {
struct Record;
}  // namespace skid::perfdata

namespace skid::locate {

class SampleFilter;
struct Filtered;

/// All samples of one event at one place, in one mode.
struct LocatedSamples {
  std::uint32_t attribute = 0;
  perfdata::SampleKind kind;
  std::optional<symbols::FileLocation> location;  ///< nullopt: nothing was mapped there
  /// The common address of samples in kernel mode with a location, and of all samples in recordings
  /// with a breakpoint event. Else 0: processes map a file at different addresses.
  std::uint64_t ip = 0;
  std::uint64_t samples = 0;
};

/// Samples by place, event, mode and exactness.
class LocatedCounts {
 public:
  /// Calls `visit(LocatedSamples)` once for each, by file, mode, offset and event.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Count& count : counts_) {
      const Block& block = blocks_[count.block()];
      LocatedSamples located;
      located.attribute = count.attribute();
      located.kind = {block.mode, count.is_exact()};
      const std::uint64_t offset = (block.number << RegionCache::kBlockBits) + count.offset();
      if (block.file != symbols::Region::kNoFile) located.location = {block.file, offset};
      if (block.has_address) located.ip = offset - block.distance;
      located.samples = count.samples;
      visit(located);
    }
  }

 private:
  friend class PlaceCounter;

  /// Bytes of a file at which samples were taken.
  struct Block {
    symbols::FileIndex file = 0;  ///< Region::kNoFile: what is mapped nowhere
    perfdata::CpuMode mode = perfdata::CpuMode::unknown;
    bool has_address = false;
    std::uint64_t number = 0;    ///< of its size
    std::uint64_t distance = 0;  ///< of the mapping, if `has_address`

    friend auto operator<=>(const Block&, const Block&) = default;
  };

  /// A counter and its key: number of the block, offset in it, exactness, attribute.
  struct Count {
    static constexpr unsigned kAttributeBits = 14, kOffsetShift = kAttributeBits + 1;
    static constexpr unsigned kBlockShift = 32;
    static constexpr std::uint64_t kExact = std::uint64_t{1} << kAttributeBits;
    static_assert(perfdata::kMostAttributes <= std::size_t{1} << kAttributeBits);
    static_assert(kOffsetShift + RegionCache::kBlockBits <= kBlockShift);

    std::size_t block() const noexcept { return key >> kBlockShift; }
    std::uint64_t offset() const noexcept { return (key & 0xffff'ffff) >> kOffsetShift; }
    bool is_exact() const noexcept { return (key & kExact) != 0; }
    std::uint32_t attribute() const noexcept { return key & (kExact - 1); }

    std::uint64_t key = 0;
    std::uint64_t samples = 0;
  };

  std::vector<Block> blocks_;
  std::vector<Count> counts_;
};

/// All samples of one event.
struct EventTotals {
  std::uint64_t samples = 0;
  std::uint64_t period_sum = 0;  ///< sum of their periods, if recorded
};

/// Counts samples by the place where they were taken, and in total by event. At most 60 bytes per
/// distinct (place, event), and 120 per 128 KiB of a file in which there are any. Of one thread.
class PlaceCounter {
 public:
  /// All must outlive the counter. `keeps_addresses`: processes that map a file at different
  /// addresses are counted apart. `filter`: decides which samples are counted; null: all are; in
  /// `filtered`, whether they are or not.
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
  /// Gives the counts away.
  LocatedCounts take_counts();

  /// By attribute.
  const std::vector<EventTotals>& totals() const noexcept { return totals_; }
  /// Samples left out because their id belongs to no event.
  std::uint64_t unknown_ids() const noexcept { return unknown_ids_; }

 private:
  using Block = LocatedCounts::Block;
  using Count = LocatedCounts::Count;

  struct BlockHash {
    std::size_t operator()(const Block& block) const;  // as if it could throw: nodes keep it then
    std::uint64_t seed;
  };

  /// Keys that are counted together, so that their cache misses overlap.
  struct Batch {
    std::array<std::uint64_t, 32> keys;
    std::array<std::size_t, 32> slots;  ///< where each search begins
    std::size_t used = 0;
  };

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
  std::uint64_t unknown_ids_ = 0;

  std::vector<Block> blocks_;  ///< by number; the first is none
  std::unordered_map<Block, std::uint32_t, BlockHash> block_numbers_{0, BlockHash{random_seed()}};
  /// A power of two of slots in open addressing; those whose key is 0 are free.
  std::vector<Count> counts_;
  std::size_t used_ = 0;
  unsigned shift_;  ///< 64 - log2(slots)
  // Random, so that a recording cannot be made to collide. Multiplication by a random odd number is
  // a universal hash: Dietzfelbinger et al., "A Reliable Randomized Algorithm for the Closest-Pair
  // Problem", 1997.
  std::uint64_t factor_;
};

}  // namespace skid::locate
