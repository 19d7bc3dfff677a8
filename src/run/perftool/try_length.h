// How long an event of unknown frequency is recorded.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace skid::perftool {

/// Maximum length of a retry for a rare event.
inline constexpr std::chrono::nanoseconds kLongestTry = std::chrono::seconds{16};
/// A run this long without a single event is not extended.
inline constexpr std::chrono::nanoseconds kLongestEmptyTry = std::chrono::seconds{2};
/// The minimum growth of a try: the next one lasts this many percent of the last one, at least.
inline constexpr std::uint64_t kLeastGrowth = 200;
/// Percentage added to the estimated length for the missing samples.
inline constexpr std::uint64_t kMargin = 120;

/// Returns the length of the next try after one of `length` that gave `samples` of the requested
/// `asked`; nullopt: no further try.
std::optional<std::chrono::nanoseconds> next_length(std::chrono::nanoseconds length,
                                                    std::uint64_t samples, std::uint64_t asked);

}  // namespace skid::perftool
