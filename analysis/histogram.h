// The histogram of skid offsets. Offsets are binned here alone: texts, CSV, JSON, figures and pages
// request the bins that they show.
#pragma once

#include "analysis/sample_class.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace skid::analysis {

struct Tally;

/// Offsets from lowest to highest, in bins of `width` instructions. Bins begin at multiples of the
/// width, so that 0 always begins one.
struct OffsetAxis {
  std::int64_t lowest = 0, highest = 0;
  std::int64_t width = 1;
};

/// The samples with lo <= offset < hi, in instructions.
struct Bin {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::uint64_t count = 0;
  std::array<std::uint64_t, kLocatedClasses> by_class{};  ///< `count` divided by SampleClass

  std::uint64_t operator[](SampleClass sample_class) const {
    return by_class.at(static_cast<std::size_t>(sample_class));
  }
};

struct Histogram {
  std::vector<Bin> bins;        ///< ascending, empty ones left out
  std::uint64_t underflow = 0;  ///< samples below the axis
  std::uint64_t overflow = 0;   ///< samples above the axis
};

/// The most offsets on a measurement's axis: two times the longest runway and lead-in of a
/// generated target.
inline constexpr std::int64_t kLongestAxis = std::int64_t{1} << 22;

/// Returns the number of an offset's bin: offset / width, rounded down.
constexpr std::int64_t bin_of(std::int64_t offset, std::int64_t width) {
  return offset / width - (offset % width < 0 ? 1 : 0);
}

/// Returns a histogram with each located sample of `tally` once. Throws std::invalid_argument if
/// the ends of the axis are in the wrong order or more than 2^30 bins apart, or if the width is
/// below 1.
Histogram histogram_of(const Tally& tally, const OffsetAxis& axis);

}  // namespace skid::analysis
