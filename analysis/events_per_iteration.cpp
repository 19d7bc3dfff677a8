#include "analysis/events_per_iteration.h"

namespace skid::analysis {

std::optional<double> EventsPerIteration::fewest() const {
  if (!expected) return std::nullopt;
  return *expected * (1 - cached_share.value_or(0));
}

}  // namespace skid::analysis
