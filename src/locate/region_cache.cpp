#include "src/locate/region_cache.h"

#include "src/support/address.h"

#include <algorithm>
#include <iterator>
#include <new>

#include <sys/mman.h>

namespace skid::locate {

RegionCache::RegionCache(const symbols::AddressSpaces& spaces) : spaces_(spaces) {
  void* zeros =
      ::mmap(nullptr, kPlacesBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (zeros == MAP_FAILED) throw std::bad_alloc();
  places_.reset(static_cast<Place*>(zeros));
}

void RegionCache::Unmap::operator()(Place* places) const noexcept {
  ::munmap(places, kPlacesBytes);
}

/// Finds the mapping of an address; keeps those that took a search in many ancestors.
symbols::Region RegionCache::look_up(AddressSpace space, std::uint64_t ip, std::uint64_t time) {
  constexpr std::size_t kMany = 8, kMostKept = 65'536;
  if (!space.has_mappings()) return {};
  // perf writes pid -1 for tasks that have ended; their code was not the kernel's.
  const bool is_user = space.mode() == perfdata::CpuMode::user;
  if (is_user && space.pid() == symbols::AddressSpaces::kKernel) return {};
  const auto after = inherited_.upper_bound({space.key(), ip});
  if (after != inherited_.begin()) {
    const auto& [key, known] = *std::prev(after);
    if (key.first == space.key() && known.addresses.contains(ip) && known.since <= time &&
        time < known.until) {
      return known;
    }
  }
  const auto region = spaces_.find(space.pid(), ip, time);
  if (region.ancestors < kMany) return region;
  if (inherited_.size() == kMostKept) inherited_.clear();
  inherited_.insert_or_assign({space.key(), region.addresses.begin}, region);
  return region;
}

/// Makes `place` the entry for `ip`, which ends with its mapping or its block.
void RegionCache::fill(Place& place, AddressSpace space, std::uint64_t ip, std::uint64_t time) {
  const auto region = look_up(space, ip, time);
  constexpr std::uint64_t kBlock = std::uint64_t{1} << kBlockBits;
  const std::uint64_t offset = (ip + region.distance) % kBlock;  // in the block
  const std::uint64_t before = std::min(offset, ip - region.addresses.begin);
  // No range contains the last address of all.
  const std::uint64_t after =
      std::min(kBlock - offset, std::max<std::uint64_t>(region.addresses.end - ip, 1));
  place = {.begin = ip - before,
           .since = region.since,
           .lasts = region.until - region.since,
           .space = space.key(),
           .distance = region.distance,
           .size = static_cast<std::uint32_t>(before + after),
           .file = region.file};
}

}  // namespace skid::locate
