#include "src/locate/space_epochs.h"

#include <algorithm>

namespace skid::locate {
namespace {

/// Events that came too late are passed over in search of one that did not, up to so many.
constexpr int kMostLate = 64;
constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15ULL;
constexpr unsigned kPageBits = 12;
constexpr unsigned kRecentShift = 64 - 12;  // log2 of the recent numbers

}  // namespace

void SpaceEpochs::changed(std::int32_t space, std::uint64_t time) {
  Space& changed = by_space_[space];
  ++changed.changes;
  changed.newest_change = std::max(changed.newest_change, time);
  if (changed.newest_sample && time <= *changed.newest_sample) changed.late.insert(time);
}

std::int32_t SpaceEpochs::number_anew(std::int32_t space, std::uint64_t address,
                                      std::uint64_t time) {
  const std::uint64_t since = spaces_.last_change(space, address, time);
  const auto next = static_cast<std::int32_t>(numbered_.size());
  const auto [entry, added] = numbers_.try_emplace({space, since}, next);
  if (added) numbered_.push_back({space, since});
  return entry->second;
}

std::int32_t SpaceEpochs::number(std::int32_t space, std::uint64_t address, std::uint64_t time) {
  const auto hash =
      (address >> kPageBits ^ std::uint64_t{static_cast<std::uint32_t>(space)} << 40) * kOdd;
  Recent& recent = recent_[hash >> kRecentShift];
  std::int32_t number = recent.number;
  Space* of = recent.of;
  if (!recent.holds(space, address, time)) {
    of = &by_space_[space];
    number = number_anew(space, address, time);
    if (time >= of->newest_change) {
      recent = {spaces_.alike(space, address), of, space, number, of->changes};
    }
  }
  of->newest_sample = std::max(of->newest_sample.value_or(0), time);
  Numbered& numbered = numbered_[static_cast<std::size_t>(number)];
  numbered.first = std::min(numbered.first, time);
  numbered.last = std::max(numbered.last, time);
  return number;
}

std::pair<std::uint64_t, std::uint64_t> SpaceEpochs::times_of(std::int32_t number,
                                                              std::uint64_t address) const {
  const Numbered& numbered = numbered_[static_cast<std::size_t>(number)];
  const std::set<std::uint64_t>& late = by_space_.at(numbered.space).late;
  std::uint64_t last = numbered.last;
  // Samples behind an event that came in time have another number.
  auto next = spaces_.next_change(numbered.space, address, numbered.since);
  for (int passed = 0; next && *next <= last && passed < kMostLate; ++passed) {
    if (late.count(*next) == 0) {
      last = *next - 1;
      break;
    }
    next = spaces_.next_change(numbered.space, address, *next);
  }
  return {numbered.first, last};
}

}  // namespace skid::locate
