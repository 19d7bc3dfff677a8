// The time for which samples were recorded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace skid::perfdata {

/// The earliest and the latest time of some samples in ns; 0: unknown.
struct SampleTimes {
  std::uint64_t first = 0, last = 0;

  /// Extends the times to another one, unless it is unknown.
  void add(std::uint64_t time) noexcept {
    if (time == 0) return;
    first = first == 0 ? time : std::min(first, time);
    last = std::max(last, time);
  }
  void add(const SampleTimes& others) noexcept {
    add(others.first);
    add(others.last);
  }
  /// Returns the share of this time that `length` ns are, at most 1; nullopt if either is 0.
  std::optional<double> share_of(std::uint64_t length) const noexcept {
    if (length == 0 || last == first) return std::nullopt;
    return std::min(1.0, static_cast<double>(length) / static_cast<double>(last - first));
  }
};

}  // namespace skid::perfdata
