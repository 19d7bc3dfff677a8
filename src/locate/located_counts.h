// Samples counted by event and place: the result of counting.
#pragma once

#include "src/locate/file_block.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample_kind.h"
#include "src/symbols/file_location.h"
#include "src/symbols/region.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace skid::locate {

/// Whether an address is in the block with x86-64's vsyscall page, code of user mode in the
/// kernel's half of the address space.
constexpr bool is_of_vsyscall(std::uint64_t ip) noexcept {
  return ip >> kBlockBits == 0xffff'ffff'ff60'0000 >> kBlockBits;
}

/// Whether an address is in the first block of all, where no program has code: 0 in place of an
/// address.
constexpr bool is_near_zero(std::uint64_t ip) noexcept {
  return ip >> kBlockBits == 0;
}

/// All samples of one event at one place, in one mode.
struct LocatedSamples {
  std::uint32_t attribute = 0;
  perfdata::SampleKind kind;
  std::optional<symbols::FileLocation> location;  ///< nullopt: nothing was mapped there
  /// The common address of samples in kernel mode with a location, and of all samples in recordings
  /// with a breakpoint event. Where nothing was mapped the first address of the half of the address
  /// space, but for the user's half that of its second block, so that addresses of 0 can be told
  /// from others; or that of the vsyscall page. Else 0: processes map a file at different
  /// addresses.
  std::uint64_t ip = 0;
  std::uint64_t samples = 0;
};

/// Counts of samples by place, event, mode and exactness.
class LocatedCounts {
 public:
  /// Calls `visit(LocatedSamples)` once for each count, ordered by file, mode, offset and event.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Count& count : counts_) {
      const Block& block = blocks_[count.block()];
      LocatedSamples located;
      located.attribute = count.attribute();
      located.kind = {block.mode, count.is_exact()};
      const std::uint64_t offset = (block.number << kBlockBits) + count.offset();
      if (block.file != symbols::Region::kNoFile) located.location = {block.file, offset};
      if (block.has_address) located.ip = offset - block.distance;
      located.samples = count.samples;
      visit(located);
    }
  }

 private:
  friend class PlaceCounter;

  /// A block of a file in which samples were taken, in one mode.
  struct Block {
    symbols::FileIndex file = 0;  ///< Region::kNoFile: nothing is mapped
    perfdata::CpuMode mode = perfdata::CpuMode::unknown;
    bool has_address = false;    ///< samples at different addresses are counted separately
    std::uint64_t number = 0;    ///< file offset of the block, divided by its size
    std::uint64_t distance = 0;  ///< Region::distance of the mapping, if `has_address`

    friend auto operator<=>(const Block&, const Block&) = default;
  };

  /// A counter and its key. From the highest bit down the key consists of the index of the block
  /// (32 bits), the offset in it (17), the exactness (1) and the attribute (14).
  struct Count {
    static constexpr unsigned kAttributeBits = 14, kOffsetShift = kAttributeBits + 1;
    static constexpr unsigned kBlockShift = 32;
    static constexpr std::uint64_t kExact = std::uint64_t{1} << kAttributeBits;
    static_assert(perfdata::kMostAttributes <= std::size_t{1} << kAttributeBits);
    static_assert(kOffsetShift + kBlockBits <= kBlockShift);

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

}  // namespace skid::locate
