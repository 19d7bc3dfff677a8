// Samples counted per distinct (event, address space, address, mode, exactness), not kept one by
// one.
#pragma once

#include "src/perfdata/sample.h"
#include "src/perfdata/time_slices.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace skid::perfdata {

/// Mode and exactness of a sample in one number, as in one field of its record.
class SampleKind {
 public:
  static constexpr std::uint32_t kExact = 8;
  static constexpr std::uint32_t kBits = 4;

  constexpr SampleKind() noexcept = default;
  constexpr SampleKind(CpuMode mode, bool exact) noexcept
      : bits_(static_cast<std::uint32_t>(mode) | (exact ? kExact : 0)) {}
  static constexpr SampleKind of_misc(std::uint16_t misc) noexcept {
    return {static_cast<CpuMode>(misc & PERF_RECORD_MISC_CPUMODE_MASK),
            (misc & PERF_RECORD_MISC_EXACT_IP) != 0};
  }
  static constexpr SampleKind of_bits(std::uint32_t bits) noexcept {
    return {static_cast<CpuMode>(bits & (kExact - 1)), (bits & kExact) != 0};
  }

  constexpr CpuMode mode() const noexcept { return static_cast<CpuMode>(bits_ & (kExact - 1)); }
  constexpr bool exact() const noexcept { return (bits_ & kExact) != 0; }
  constexpr std::uint32_t bits() const noexcept { return bits_; }

 private:
  std::uint32_t bits_ = 0;
};

/// The address space of a sample: that of its process, or the shared one, which mapping records
/// denote by pid -1.
inline constexpr std::int32_t kKernelAddressSpace = -1;
constexpr std::int32_t address_space_of(SampleKind kind, std::int32_t pid) noexcept {
  return kind.mode() == CpuMode::kernel ? kKernelAddressSpace : pid;
}

/// The counted fields of a sample.
struct SampleKey {
  std::uint64_t ip = 0;
  std::int32_t address_space =
      0;  ///< address_space_of, or a number that the caller gives such an address space
  std::uint32_t attribute = 0;
  SampleKind kind;
};

/// How often something was sampled, and between which times (SampleDecoder::time_of), which may be
/// wider apart than the truth, never narrower.
struct SampleCount {
  SampleKey of;
  std::uint64_t samples = 0;
  std::uint64_t first = 0, last = 0;
  std::uint64_t end = 0;  ///< the position in the recording after the last of them
};

/// Counts in open addressing. Profiles have few distinct addresses, and in recordings of several
/// events most addresses occur with all of them: a row has the counts of one address for eight
/// neighbouring events, in half a cache line. At most 44 bytes per distinct (event, address space,
/// address), including the index.
class SampleCounts {
 public:
  SampleCounts();

  /// Counts samples of `slice`. Their memory accesses overlap, which matters where the addresses
  /// are random.
  void add(std::span<const SampleKey> keys, Slice slice);
  /// Counts `samples` of one place that were in slices from `first` to `last`.
  void add_between(Slice first, Slice last, const SampleKey& key, std::uint64_t samples);
  /// Notes that samples of `slice`, which were or will be added, were within [first, last] and
  /// before the position `end`.
  void note(Slice slice, std::uint64_t first, std::uint64_t last, std::uint64_t end) {
    slices_.note(slice, first, last, end);
  }
  /// Adds all of `other`, which is empty afterwards.
  void merge(SampleCounts& other);

  /// Ends adding, and frees the memory for it.
  void seal();

  std::size_t rows() const noexcept { return rows_used_; }
  /// Removes the rows for which `is_out(row)`, and their memory, after `visit(SampleCount)` for
  /// each of their places. The order of the others is kept. Only after `seal`.
  template <typename IsOut, typename Visit>
  void extract(IsOut is_out, Visit visit) {
    std::size_t kept = 0;
    for (std::size_t index = 0; index < rows_used_; ++index) {
      if (is_out(index)) {
        visit_row(index, visit);
        drop_carries(index);
      } else {
        move_row(index, kept++);
      }
      if ((index + 1) % kRowsABlock == 0) free_block(index / kRowsABlock, kept);
    }
    truncate(kept);
  }

  /// Calls `visit(row, SampleCount)` for each distinct place, rows ascending. The places of one row
  /// differ only in their event and share first and last. Only after `seal` are these meaningful.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t index = 0; index < rows_used_; ++index) {
      visit_row(index, [&](const SampleCount& count) { visit(index, count); });
    }
  }

 private:
  static constexpr std::uint32_t kColumns = 8;
  static constexpr std::size_t kRowsABlock = 8192;

  /// What the rows of one address space, kind and group of events have in common, by its number
  /// + 1.
  struct ContextSlot {
    std::uint64_t key = 0;  ///< the address space above attribute / kColumns above the SampleKind
    std::uint32_t number = 0;  ///< 0 for a free slot
  };
  struct alignas(32) Row {
    std::uint64_t ip;
    std::uint32_t context;  ///< index into contexts_
    Slice first, last;
    std::array<std::uint16_t, kColumns> counts;  ///< the rest in carries_
  };
  static_assert(sizeof(Row) == 32);

  Row& row_at(std::size_t index) const noexcept {
    return blocks_[index / kRowsABlock][index % kRowsABlock];
  }
  template <typename Visit>
  void visit_row(std::size_t index, Visit visit) const {
    const Row& row = row_at(index);
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      const std::uint64_t samples = count_of(index, column);
      if (samples > 0) visit(describe(row, column, samples));
    }
  }
  void move_row(std::size_t from, std::size_t to);
  void drop_carries(std::size_t row);
  void free_block(std::size_t block, std::size_t kept);
  void truncate(std::size_t rows);
  std::uint64_t count_of(std::size_t row, std::uint32_t column) const;
  SampleCount describe(const Row& row, std::uint32_t column, std::uint64_t samples) const;
  std::uint32_t context_of(const SampleKey& key);
  std::uint32_t context_of(std::uint64_t key);
  void grow_contexts();
  std::uint64_t hash(std::uint64_t ip, std::uint32_t context) const noexcept;
  std::uint32_t probable_row(std::uint64_t hash) const noexcept;
  std::size_t find_or_insert(std::uint64_t ip, std::uint32_t context, std::uint64_t hash,
                             Slice slice);
  std::size_t row_of(std::uint64_t ip, std::uint32_t context, Slice slice);
  void widen(std::size_t row, Slice first, Slice last) noexcept;
  void increase(std::size_t row, std::uint32_t column, std::uint64_t samples);
  void make_room(std::size_t rows);
  void grow();
  void carry(std::size_t row, std::uint32_t column, std::uint64_t samples);

  std::uint64_t seed_;
  TimeSlices slices_;
  std::vector<std::unique_ptr<Row[]>> blocks_;
  std::size_t rows_used_ = 0;
  /// Row number + 1 in the low bits, bits of its hash in the others, which avoid most reads of
  /// other rows; 0 for a free slot.
  std::vector<std::uint32_t> slots_;
  unsigned slot_bits_ = 0;               ///< log2 of the slots
  std::vector<std::uint64_t> contexts_;  ///< keys
  std::vector<ContextSlot> context_slots_;
  /// By row * kColumns + column: samples beyond the maximum of the row's counter.
  std::unordered_map<std::uint64_t, std::uint64_t> carries_;
};

}  // namespace skid::perfdata
