#include "analysis/skid_in_events.h"

namespace skid::analysis {

SkidInEvents& SkidInEvents::operator+=(const SkidInEvents& more) {
  overshoots += more.overshoots;
  left_out += more.left_out;
  return *this;
}

}  // namespace skid::analysis
