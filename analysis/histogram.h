// The histogram of skid offsets. It is binned here alone, from the offsets of a tally: texts, CSV,
// JSON, figures and pages ask for the bins that they show.
#pragma once

#include "analysis/basis.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace skid::analysis {

/// hit, skid, before and censored, the first of SampleClass: those with an offset.
inline constexpr std::size_t kLocatedClasses = 4;

/// Offsets lowest to highest in bins of `width` instructions that begin at multiples of it, so that
/// 0 always begins one.
struct OffsetAxis {
  std::int64_t lowest = 0, highest = 0;
  std::int64_t width = 1;
};

/// Samples with lo <= offset < hi, in instructions.
struct Bin {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::uint64_t count = 0;
  std::array<std::uint64_t, kLocatedClasses> by_class{};  ///< of `count`, by SampleClass

  std::uint64_t operator[](SampleClass sample_class) const {
    return by_class.at(static_cast<std::size_t>(sample_class));
  }
};

struct Histogram {
  std::vector<Bin> bins;        ///< ascending, empty ones left out
  std::uint64_t underflow = 0;  ///< below the axis
  std::uint64_t overflow = 0;   ///< above it
};

/// Offsets of a measurement's axis: two times the longest runway and lead-in of a generated target.
inline constexpr std::int64_t kLongestAxis = std::int64_t{1} << 22;

/// offset / width, rounded down.
constexpr std::int64_t bin_of(std::int64_t offset, std::int64_t width) {
  return offset / width - (offset % width < 0 ? 1 : 0);
}

/// The located samples of `tally`, each once. Throws std::invalid_argument when the ends of the
/// axis are in the wrong order or 2^30 bins apart, or the width is below 1.
Histogram histogram_of(const Tally& tally, const OffsetAxis& axis);

}  // namespace skid::analysis
