#include "analysis/share.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace skid::analysis {

Share wilson_interval(std::uint64_t count, std::uint64_t total) {
  if (count > total) throw std::invalid_argument("a share counts more than its total");
  Share share;
  share.count = count;
  share.total = total;
  if (total == 0) return share;

  const double z = two_sided_z();
  const auto n = static_cast<double>(total);
  const double p = static_cast<double>(count) / n;
  const double z2n = z * z / n;
  const double centre = p + z2n / 2.0;
  const double spread = z * std::sqrt(p * (1.0 - p) / n + z2n / (4.0 * n));
  share.value = p;
  // The formula gives these two ends exactly; floating point would miss them by an ulp.
  share.low = count == 0 ? 0.0 : std::max(0.0, (centre - spread) / (1.0 + z2n));
  share.high = count == total ? 1.0 : std::min(1.0, (centre + spread) / (1.0 + z2n));
  return share;
}

std::uint64_t samples_to_show(double share) {
  if (!(share >= 0.0 && share < 1.0)) {
    throw std::invalid_argument("a share that samples can show is in [0, 1)");
  }
  const double z = two_sided_z();
  return static_cast<std::uint64_t>(std::ceil(share * z * z / (1.0 - share)));
}

}  // namespace skid::analysis
