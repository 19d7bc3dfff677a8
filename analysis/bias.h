// How evenly the samples of an event fall on several triggers that cause it equally often.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace skid::analysis {

/// Samples of one of several triggers: at it, or on the runway between it and the next one.
struct TriggerCount {
  std::uint64_t hits = 0;
  std::uint64_t samples = 0;  ///< hits included

  TriggerCount& operator+=(const TriggerCount& other) {
    hits += other.hits;
    samples += other.samples;
    return *this;
  }
  friend bool operator==(const TriggerCount&, const TriggerCount&) = default;
};

/// The samples of K triggers or places compared with 1/K each.
struct Bias {
  /// The most samples of one of them over the fewest; nullopt where one has no samples.
  std::optional<double> largest_ratio;
  double chi_square = 0;  ///< Pearson's statistic
  int degrees = 0;        ///< of freedom: K - 1
  /// The chance of a statistic at least as large where all shares are 1/K. It takes samples for
  /// independent of each other.
  double p = 1;
};

/// Pearson's test of even shares. `samples`: of at least two places, and not all 0.
Bias pearson_of(std::span<const std::uint64_t> samples);

/// nullopt for fewer than two triggers, and where fewer than five samples are to be expected of
/// each, which the approximation by a chi-square distribution needs.
std::optional<Bias> bias_of(std::span<const TriggerCount> triggers);

}  // namespace skid::analysis
