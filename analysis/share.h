// Shares with Wilson's interval.
#pragma once

#include "analysis/confidence.h"

#include <cstdint>

namespace skid::analysis {

/// `count` of `total`, with an interval for the underlying share.
struct Share {
  std::uint64_t count = 0;
  std::uint64_t total = 0;
  double value = 0.0;  ///< count / total; 0 if total is 0
  double low = 0.0;
  double high = 1.0;
  static constexpr double confidence = kConfidence;
};

/// Returns a share with Wilson's score interval (E. B. Wilson, JASA 22, 1927). The interval is
/// [0, 1] if total is 0. Throws std::invalid_argument if count exceeds total.
Share wilson_interval(std::uint64_t count, std::uint64_t total);

/// Returns the fewest samples of which none may miss for the lower end of Wilson's interval to
/// reach `share`: ceil(share z² / (1 - share)).
std::uint64_t samples_to_show(double share);

}  // namespace skid::analysis
