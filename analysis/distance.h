// A distribution of offsets summarized in a few numbers.
#pragma once

#include <cstdint>
#include <optional>

namespace skid::analysis {

class OffsetCounts;

/// Summary of a distribution of offsets. Lengths are offsets times the `scale` of summarize();
/// `mode_share` is 0 to 1.
struct Distance {
  double min = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
  double mean = 0, stddev = 0;
  double mode = 0;
  double mode_share = 0;  ///< share of the samples at `mode`
  /// Whether the quantile is at or beyond the first censored offset: the value is a lower bound. If
  /// `max_at_least`, the mean is one, too.
  bool p50_at_least = false, p90_at_least = false, p99_at_least = false, max_at_least = false;
};

/// Summarizes offsets; nullopt without samples. `censored_from`: the first censored offset, in the
/// unit of `offsets`; nullopt: none. `scale` multiplies every length (ticks per instruction, or 1).
std::optional<Distance> summarize(const OffsetCounts& offsets,
                                  std::optional<std::int64_t> censored_from, double scale = 1.0);

}  // namespace skid::analysis
