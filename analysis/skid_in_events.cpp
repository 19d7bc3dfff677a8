#include "analysis/skid_in_events.h"

#include "analysis/wording.h"

#include <fmt/format.h>

namespace skid::analysis {

SkidInEvents& SkidInEvents::operator+=(const SkidInEvents& more) {
  overshoots += more.overshoots;
  left_out += more.left_out;
  return *this;
}

std::string describe(const SkidInEvents& skid) {
  if (!skid.refused.empty()) return "not derived: " + skid.refused;
  const OffsetCounts& overshoots = skid.overshoots;
  const std::string left_out =
      skid.left_out == 0
          ? std::string()
          : fmt::format(", {} left out: the multiple of the period is not known", skid.left_out);
  if (overshoots.empty()) return fmt::format("no samples{}", left_out);
  return fmt::format("p50 {}, p99 {}, max {} events past the overflow ({}{})",
                     overshoots.quantile(0.50), overshoots.quantile(0.99), overshoots.quantile(1),
                     counted(overshoots.total(), "sample"), left_out);
}

}  // namespace skid::analysis
