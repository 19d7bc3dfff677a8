// The histogram of skid offsets: Boost.Histogram, filled once and read by texts, CSV and figures.
#pragma once

#include "analysis/statistics.h"

#include <cstdint>
#include <vector>

namespace skid::analysis {

/// Samples with lo <= offset < hi, in instructions.
struct Bin {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::uint64_t count = 0;
  /// Of these, the censored ones: among several triggers an offset may be censored after one and
  /// not after another.
  std::uint64_t censored = 0;
};

struct HistogramSlice {
  std::vector<Bin> bins;        ///< ascending, empty ones left out
  std::uint64_t underflow = 0;  ///< below the axis
  std::uint64_t overflow = 0;   ///< above it
};

/// Two times the longest runway and lead-in that a target can have.
inline constexpr std::int64_t kLongestAxis = std::int64_t{1} << 22;

/// Offsets [lowest, highest] of one event at one level in bins of `width` instructions that begin
/// at multiples of it, so that 0 always begins one. `censored`: those of `offsets` that are
/// censored. Throws std::invalid_argument when the ends are in the wrong order or more than
/// `kLongestAxis` offsets apart, or the width is below 1.
HistogramSlice histogram_of(const OffsetCounts& offsets, const OffsetCounts& censored,
                            std::int64_t lowest, std::int64_t highest, std::int64_t width);

}  // namespace skid::analysis
