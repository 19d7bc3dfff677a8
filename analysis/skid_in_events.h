// Skid in events: how far an event's counter was past the programmed overflow when its interrupt
// read it.
#pragma once

#include "analysis/statistics.h"

#include <cstdint>
#include <string>

namespace skid::analysis {

/// The overshoots of one event's counters (docs/method.md, "Skid in events").
struct SkidInEvents {
  /// Events from a multiple of the period to the counter's value, of the samples whose multiple is
  /// known: 0 and more, less than the period.
  OffsetCounts overshoots = {};
  std::uint64_t left_out = 0;  ///< samples whose multiple is not known
  /// Why the values of this event contain no overshoot; empty: they do.
  std::string refused = {};

  /// Of the same event: both refused or neither.
  SkidInEvents& operator+=(const SkidInEvents& more);
};

/// "p50 12, p99 31, max 84 events past the overflow (5000 samples, 3 left out: …)", or why there
/// are none.
std::string describe(const SkidInEvents& skid);

}  // namespace skid::analysis
