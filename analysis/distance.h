// A distribution of offsets summarized in a few numbers.
#pragma once

#include <cstdint>
#include <optional>

namespace skid::analysis {

class OffsetCounts;

/// Summarizes a distribution, in the unit of its offsets times a scale.
struct Distance {
  double min = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
  double mean = 0, stddev = 0;
  double mode = 0;
  double mode_share = 0;  ///< share of the samples at `mode`
  /// A quantile at or above the first censored offset is a lower bound: "at least". If the maximum
  /// is one, so is the mean.
  bool p50_at_least = false, p90_at_least = false, p99_at_least = false, max_at_least = false;
};

/// Summarizes offsets; nullopt without samples. `scale` multiplies every length (ticks per
/// instruction, or 1).
std::optional<Distance> summarize(const OffsetCounts& offsets,
                                  std::optional<std::int64_t> censored_from, double scale = 1.0);

}  // namespace skid::analysis
