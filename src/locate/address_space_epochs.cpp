#include "src/locate/address_space_epochs.h"

#include <algorithm>

namespace skid::locate {
namespace {

/// Events that came too late are passed over in search of one that did not, up to so many.
constexpr int kMostLate = 64;
constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15ULL;
constexpr unsigned kPageBits = 12;
constexpr unsigned kRecentShift = 64 - 12;  // log2 of the recent numbers

}  // namespace

void AddressSpaceEpochs::changed(std::int32_t address_space, std::uint64_t time) {
  Changes& changed = by_address_space_[address_space];
  ++changed.changes;
  changed.newest_change = std::max(changed.newest_change, time);
  if (changed.newest_sample && time <= *changed.newest_sample) changed.late.insert(time);
}

std::int32_t AddressSpaceEpochs::number_anew(std::int32_t address_space, std::uint64_t address,
                                             std::uint64_t time) {
  const std::uint64_t since = spaces_.last_change(address_space, address, time);
  const auto next = static_cast<std::int32_t>(numbered_.size());
  const auto [entry, added] = numbers_.try_emplace({address_space, since}, next);
  if (added) numbered_.push_back({address_space, since});
  return entry->second;
}

std::int32_t AddressSpaceEpochs::number(std::int32_t address_space, std::uint64_t address,
                                        std::uint64_t time) {
  const auto hash =
      (address >> kPageBits ^ std::uint64_t{static_cast<std::uint32_t>(address_space)} << 40) *
      kOdd;
  Recent& recent = recent_[hash >> kRecentShift];
  std::int32_t number = recent.number;
  Changes* of = recent.of;
  if (!recent.holds(address_space, address, time)) {
    of = &by_address_space_[address_space];
    number = number_anew(address_space, address, time);
    if (time >= of->newest_change) {
      recent = {spaces_.alike(address_space, address), of, address_space, number, of->changes};
    }
  }
  of->newest_sample = std::max(of->newest_sample.value_or(0), time);
  Numbered& numbered = numbered_[static_cast<std::size_t>(number)];
  numbered.first = std::min(numbered.first, time);
  numbered.last = std::max(numbered.last, time);
  return number;
}

std::pair<std::uint64_t, std::uint64_t> AddressSpaceEpochs::times_of(std::int32_t number,
                                                                     std::uint64_t address) const {
  const Numbered& numbered = numbered_[static_cast<std::size_t>(number)];
  const std::set<std::uint64_t>& late = by_address_space_.at(numbered.address_space).late;
  std::uint64_t last = numbered.last;
  // Samples after an event that came in time have another number.
  auto next = spaces_.next_change(numbered.address_space, address, numbered.since);
  for (int passed = 0; next && *next <= last && passed < kMostLate; ++passed) {
    if (late.count(*next) == 0) {
      last = *next - 1;
      break;
    }
    next = spaces_.next_change(numbered.address_space, address, *next);
  }
  return {numbered.first, last};
}

}  // namespace skid::locate
