// The times of samples: from which one to which one, and those of samples stored one after another.
#pragma once

#include <algorithm>
#include <cstdint>

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
};

/// The times of samples that follow each other in a recording.
struct SampleRun {
  SampleTimes times;
  std::uint64_t last = 0;  ///< time of the last one stored
};

}  // namespace skid::perfdata
