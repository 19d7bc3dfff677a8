// The times of the first and of the last sample.
#pragma once

#include <algorithm>
#include <cstdint>

namespace skid::perfdata {

/// Times of the first and of the last of some samples in ns; 0: unknown.
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
};

}  // namespace skid::perfdata
