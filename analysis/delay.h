// The delay between a counter's overflow and the event that PEBS records, from the order of samples
// (docs/method.md, "Delay").
#pragma once

#include "analysis/offset_counts.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace skid::analysis {

/// Pairs of consecutive samples of a thread without a lost record between them, counted by two
/// events of the iteration: that of the overflow and the recorded one. The counter restarts when a
/// record is written, so the overflow is `period` events after the previous sample.
struct SamplePairs {
  /// Retired instructions from each event of an iteration to the next; the last distance leads to
  /// the first event of the next iteration. Each is at least 1. Empty: each instruction of
  /// `iteration` is an event.
  std::vector<std::uint64_t> distances = {};
  std::uint64_t iteration = 1;  ///< instructions of an iteration
  /// The pairs by event, K x K counts for K distances: index overflow * K + recorded.
  std::vector<std::uint64_t> counts = {};
  /// The pairs without distances, by the instructions from the overflow to the recorded one: 1 to
  /// `iteration`.
  OffsetCounts delays = {};
  /// Pairs with a sample elsewhere, or with lost or throttled records between them.
  std::uint64_t left_out = 0;

  /// Adds the pair of a sample at event `from` and the next one, at event `to` (both from 0). The
  /// counter overflowed at event (from + period) mod K; `period` is in events.
  void add(std::uint64_t from, std::uint64_t to, std::uint64_t period);
  std::uint64_t pairs() const {
    return std::accumulate(counts.begin(), counts.end(), delays.total());
  }
  /// Adds pairs of the same target.
  SamplePairs& operator+=(const SamplePairs& more);
  /// Whether both have the same distances and iteration, so that they can be added.
  bool is_like(const SamplePairs& other) const {
    return distances == other.distances && iteration == other.iteration;
  }
};

/// The delay T: the first event that retires at least T instructions after the overflow is
/// recorded. With T = 1 it is the next event.
struct Delay {
  /// The range of T. Its values predict equally many next samples, and more than others.
  std::uint64_t low = 0, high = 0;
  double predicted = 0;    ///< share of next samples that T predicts
  double independent = 0;  ///< the share to expect of independent samples
  double p = 1;            ///< probability that independent samples are predicted as well
  /// Quantiles of the instructions from the overflow to the recorded event.
  std::uint64_t p5 = 0, p50 = 0, p95 = 0;
};

/// Counts pairs by the instructions from the overflow to the recorded event, which are at least 1
/// and at most those of an iteration.
OffsetCounts delays_of(const SamplePairs& pairs);

/// Returns the share of overflows at each event of an iteration. Empty without distances, or with
/// fewer than kFewestDelayPairs.
std::vector<double> overflow_shares(const SamplePairs& pairs);

/// Returns the share of next samples that a delay of `delay` instructions predicts. The pairs have
/// distances.
double predicted_share(const SamplePairs& pairs, std::uint64_t delay);

/// Returns the share of samples at each event of an iteration if the counter overflows at each of
/// them equally often and the first event at least `delay` instructions later, or the next one, is
/// recorded. An event with the share 0 is in the shadow of those before it. `distances` are those
/// of SamplePairs. `overflows` are shares of overflows to be used instead of equal ones.
std::vector<double> shadowed_shares(std::span<const std::uint64_t> distances, std::uint64_t delay,
                                    std::span<const double> overflows = {});

/// Finds the delay that explains the pairs. nullopt if no T predicts significantly more next
/// samples than independent samples would allow (p < 1e-6, Bonferroni over the T that differ), or
/// for fewer than kFewestDelayPairs. T is between 1 and an iteration; a longer delay is reported
/// less whole iterations. `samples` are the samples by offset, which are used for `SamplePairs`
/// without distances.
std::optional<Delay> delay_of(const SamplePairs& pairs, const OffsetCounts& samples);

/// The fewest pairs from which a delay is computed.
inline constexpr std::uint64_t kFewestDelayPairs = 100;

}  // namespace skid::analysis
