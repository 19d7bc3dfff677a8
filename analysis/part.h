// The recordings that a measurement was made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace skid::analysis {

/// Times of the first and last sample, in ns of the recording's clock.
struct SampleTime {
  std::uint64_t first = 0, last = 0;
  friend auto operator<=>(const SampleTime&, const SampleTime&) = default;
};

/// The most parts of a sum that are listed.
inline constexpr std::size_t kMostParts = 1000;

/// One of the measurements whose samples were added up.
struct Part {
  std::string run, file;  ///< as in Description
  int repeat = 1;
  std::uint64_t samples = 0;  ///< samples read
  std::optional<SampleTime> time;
  friend auto operator<=>(const Part&, const Part&) = default;
};

}  // namespace skid::analysis
