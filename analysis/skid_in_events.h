// Skid in events: how many more events occurred until the counter was read.
#pragma once

#include "analysis/offset_counts.h"

#include <cstdint>
#include <string>

namespace skid::analysis {

/// The overshoots of one event's counters (docs/method.md, "Skid in events").
struct SkidInEvents {
  /// Events from a multiple of the period to the counter's value, for the samples whose multiple is
  /// known: 0 or more, and less than the period.
  OffsetCounts overshoots = {};
  std::uint64_t left_out = 0;  ///< samples whose multiple is not known
  /// Why the values of this event contain no overshoot. Empty: they contain it.
  std::string refused = {};

  /// Adds the overshoots of the same event. Both must be refused, or neither.
  SkidInEvents& operator+=(const SkidInEvents& more);
};

}  // namespace skid::analysis
