// The mappings of recent samples: most samples are where others were shortly before.
#pragma once

#include "src/locate/file_block.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/region.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace skid::locate {

/// An address space and the mode in which its code runs. A host's recording has no mappings of
/// guests and hypervisors: each of their modes counts as a space in which nothing is mapped.
class AddressSpace {
 public:
  constexpr AddressSpace(perfdata::CpuMode mode, std::int32_t pid) noexcept
      : key_(fill(mode) | (static_cast<std::uint32_t>(pid) & mask(mode))) {}

  /// Returns the part of the key that the mode determines. The key is fill(mode) | (pid &
  /// mask(mode)), which is computed without a branch.
  static constexpr std::uint64_t fill(perfdata::CpuMode mode) noexcept {
    const bool is_kernel = mode == perfdata::CpuMode::kernel;
    return static_cast<std::uint64_t>(mode) << 32 | (is_kernel ? kEveryPid : 0);
  }
  /// Returns the bits of the pid that are part of the key: all in user mode, else none.
  static constexpr std::uint64_t mask(perfdata::CpuMode mode) noexcept {
    return mode == perfdata::CpuMode::user ? kEveryPid : 0;
  }
  constexpr explicit AddressSpace(std::uint64_t key) noexcept : key_(key) {}
  constexpr std::uint64_t key() const noexcept { return key_; }

  constexpr perfdata::CpuMode mode() const noexcept {
    return static_cast<perfdata::CpuMode>(key_ >> 32);
  }
  constexpr bool has_mappings() const noexcept {
    return mode() == perfdata::CpuMode::kernel || mode() == perfdata::CpuMode::user;
  }
  /// Returns the pid as symbols::AddressSpaces uses it: kKernel in kernel mode.
  constexpr std::int32_t pid() const noexcept { return static_cast<std::int32_t>(key_); }

 private:
  static constexpr std::uint64_t kEveryPid = 0xffff'ffff;
  std::uint64_t key_;
};
static_assert(AddressSpace(perfdata::CpuMode::kernel, 7).pid() == symbols::AddressSpaces::kKernel);

/// A two-way cache of the results of symbols::AddressSpaces::find, for one thread.
class RegionCache {
 public:
  /// An entry of the cache: the addresses of one block of a file in one address space, for the time
  /// that they are mapped.
  struct alignas(64) Place {
    std::uint64_t begin = 0;             ///< first address
    std::uint64_t since = 0, lasts = 0;  ///< start and length of that time, ns
    std::uint64_t space = 0;             ///< AddressSpace::key
    std::uint64_t distance = 0;          ///< Region::distance
    std::uint32_t size = 0;              ///< bytes
    symbols::FileIndex file = 0;         ///< Region::kNoFile: nothing is mapped
    std::uint64_t counters = 0;          ///< set by PlaceCounter: key of the block; 0: not set
    std::uint32_t mask = 0;              ///< set by PlaceCounter: mask for the offset in the block

    bool holds(std::uint64_t of_space, std::uint64_t ip, std::uint64_t time) const noexcept {
      return ip - begin < size && space == of_space && time - since < lasts;
    }
  };

  /// `spaces`, sealed, must outlive the cache. Throws std::bad_alloc.
  explicit RegionCache(const symbols::AddressSpaces& spaces);

  /// Returns the entry for `ip` at `time`, looked up if necessary. Valid until the next call.
  [[gnu::always_inline]] Place& find(AddressSpace space, std::uint64_t ip, std::uint64_t time) {
    constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15, kOther = 0xd1b5'4a32'd192'ed03;
    const std::uint64_t hash =
        ((ip >> kBlockBits) * kOdd ^ space.key() * kOther) >> (64 - kPlaceBits);
    Place& place = places_[hash];
    if (place.holds(space.key(), ip, time)) return place;
    Place& other = places_[hash ^ 1];
    if (other.holds(space.key(), ip, time)) return other;
    other = place;
    fill(place, space, ip, time);
    return place;
  }

  /// Returns the place of a sample at `time`; nullopt if nothing is mapped there.
  std::optional<symbols::FileLocation> locate(const perfdata::Sample& sample, std::uint64_t time) {
    const Place& place = find(AddressSpace(sample.mode, sample.pid), sample.ip, time);
    if (place.file == symbols::Region::kNoFile) return std::nullopt;
    return symbols::FileLocation{place.file, sample.ip + place.distance};
  }

 private:
  static constexpr unsigned kPlaceBits = 13;

  static constexpr std::size_t kPlacesBytes = sizeof(Place) << kPlaceBits;
  struct Unmap {
    void operator()(Place* places) const noexcept;
  };

  symbols::Region look_up(AddressSpace space, std::uint64_t ip, std::uint64_t time);
  void fill(Place& place, AddressSpace space, std::uint64_t ip, std::uint64_t time);

  const symbols::AddressSpaces& spaces_;
  /// Zeros at first, which contain no address. Untouched pages take no memory.
  std::unique_ptr<Place[], Unmap> places_;
  /// Regions found after a search in many ancestors, by key of the space and first address.
  std::map<std::pair<std::uint64_t, std::uint64_t>, symbols::Region> inherited_;
};

}  // namespace skid::locate
