// Events per iteration of the target: counted ones and those that its trigger causes.
#pragma once

#include <optional>

namespace skid::analysis {

struct EventsPerIteration {
  std::optional<double> measured, expected;
  /// The share of a pointer chase's elements that the caches whose misses are counted can hold. Up
  /// to this share of `expected` may be missing. 1 if the sizes of the caches are not known;
  /// nullopt if the event does not depend on them.
  std::optional<double> cached_share = {};

  /// Returns the least number that the trigger causes.
  std::optional<double> fewest() const;
};

}  // namespace skid::analysis
