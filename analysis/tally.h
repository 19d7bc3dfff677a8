// Samples counted by class, offset and trigger.
#pragma once

#include "analysis/offset_counts.h"
#include "analysis/sample_class.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace skid::analysis {

struct Bias;
struct Classified;

/// Counts each sample in exactly one class; the classes add up to the samples read.
class Breakdown {
 public:
  void add(SampleClass sample_class, std::uint64_t samples) {
    counts_[static_cast<std::size_t>(sample_class)] += samples;
  }
  std::uint64_t operator[](SampleClass sample_class) const {
    return counts_[static_cast<std::size_t>(sample_class)];
  }

  /// Returns the number of samples read: the sum of all classes.
  std::uint64_t read() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  }
  /// Returns the sum of the classes that is_judged().
  std::uint64_t judged() const;
  /// Returns hit + skid + before + censored: the samples that have a distance.
  std::uint64_t located() const;

  Breakdown& operator+=(const Breakdown& other);
  friend bool operator==(const Breakdown&, const Breakdown&) = default;

 private:
  std::array<std::uint64_t, kSampleClasses> counts_{};
};

/// The samples of one of several triggers: at it, or on the runway between it and the next one.
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

/// Tests whether triggers have equally many samples. nullopt for fewer than two triggers, and where
/// fewer than five samples are to be expected of each, which the approximation by a chi-square
/// distribution needs.
std::optional<Bias> bias_of(std::span<const TriggerCount> triggers);

/// Samples by class and offset.
struct Tally {
  Breakdown breakdown;
  OffsetCounts instructions, bytes;
  OffsetCounts censored;                ///< the censored part of `instructions`
  std::uint64_t exact_samples = 0;      ///< samples with PERF_RECORD_MISC_EXACT_IP
  std::uint64_t exact_hits = 0;         ///< hits with the flag
  std::uint64_t exact_off_trigger = 0;  ///< judged samples with the flag that are no hits
  std::uint64_t inside_instruction = 0;
  // Samples of the loop: Classified::contradicted_by.
  std::uint64_t contradicted_hits = 0;       ///< by their data source
  std::uint64_t contradicted_addresses = 0;  ///< by their data address
  /// Counts by the number of the trigger. Triggers after the last sampled one are left out.
  std::vector<TriggerCount> triggers;

  /// Adds samples at one place. `exact`: they have PERF_RECORD_MISC_EXACT_IP.
  void add(const Classified& place, std::uint64_t samples, bool exact);
  Tally& operator+=(const Tally& other);
};

}  // namespace skid::analysis
