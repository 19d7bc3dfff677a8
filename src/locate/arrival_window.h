// Delays items from a pipe until the mappings of their time have arrived.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace skid::locate {

/// Samples that are held back at most: 9 MiB of them.
inline constexpr std::size_t kMostHeld = std::size_t{128} << 10;

/// perf empties the buffers of the CPUs one after the other, and writes FINISHED_ROUND after the
/// last. A record can be older than the newest of the previous round, but not older than the newest
/// of the round before that:
///
///     CPU 0   1 2 3        7 8        12
///     CPU 1       2 4 5        6 9        10
///                    round 1     round 2     round 3
///
/// After round 2 everything older than 5, the newest of round 1, has arrived; another CPU may still
/// have a record of that nanosecond. Items are therefore delayed by a round, or, in recordings
/// without rounds, until there are `most` of them.
template <typename Item>
class ArrivalWindow {
 public:
  explicit ArrivalWindow(std::size_t most) : most_(most) {}

  void add(std::uint64_t time, Item item) {
    newest_ = std::max(newest_, time);
    oldest_ = std::min(oldest_, time);
    looks_ += kLooksAnItem;
    held_.emplace_back(time, std::move(item));
  }

  /// A round is finished. Calls `release(time, Item&)` for all items that need not wait longer, in
  /// order of arrival. If rounds have few records and many items wait, these may wait for a few
  /// more rounds, because checking all of them each time would be slow.
  template <typename Release>
  void finish_round(Release release) {
    looks_ = std::min(looks_ + kLooksARound, most_ * kLooksAnItem + held_.size());
    if (oldest_ < newest_of_last_round_ && looks_ >= held_.size()) {
      looks_ -= held_.size();
      release_until(newest_of_last_round_ - 1, release);
    }
    newest_of_last_round_ = newest_;
  }

  /// More items than `most` are held: the older half is to be released.
  bool is_full() const noexcept { return held_.size() > most_; }

  /// Releases the older half of what is held.
  template <typename Release>
  void release_half(Release release) {
    if (held_.empty()) return;
    std::vector<std::uint64_t> times;
    times.reserve(held_.size());
    for (const auto& [time, item] : held_) times.push_back(time);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    release_until(*middle, release);
  }

  /// Releases everything.
  template <typename Release>
  void finish(Release release) {
    release_until(UINT64_MAX, release);
  }

 private:
  /// How many items may be looked at for each that is added, and for each round.
  static constexpr std::size_t kLooksAnItem = 16, kLooksARound = 64;

  template <typename Release>
  void release_until(std::uint64_t limit, Release release) {
    oldest_ = UINT64_MAX;
    auto kept = held_.begin();
    for (auto& entry : held_) {
      if (entry.first <= limit) {
        release(entry.first, entry.second);
      } else {
        oldest_ = std::min(oldest_, entry.first);
        if (&*kept != &entry) *kept = std::move(entry);
        ++kept;
      }
    }
    held_.erase(kept, held_.end());
  }

  std::size_t most_;
  std::vector<std::pair<std::uint64_t, Item>> held_;  ///< in order of arrival
  std::uint64_t newest_ = 0, newest_of_last_round_ = 0;
  std::uint64_t oldest_ = UINT64_MAX;  ///< of those held
  std::size_t looks_ = 0;
};

}  // namespace skid::locate
