// The delay between a counter's overflow and the event that PEBS records, from the order of samples
// (docs/method.md, "Delay").
#pragma once

#include "analysis/statistics.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::analysis {

/// How often the counter overflowed at one event of an iteration and another one was recorded. From
/// consecutive samples of a thread, with no record lost between them: the counter restarts when a
/// record is written, so that the next overflow is the period's number of events later.
struct SamplePairs {
  /// Retired instructions from each event of an iteration to the next, from the last one to the
  /// first of the next iteration; each at least 1. Empty: each instruction of `iteration` is an
  /// event.
  std::vector<std::uint64_t> distances = {};
  std::uint64_t iteration = 1;  ///< instructions
  /// Of K distances K x K counts: overflow * K + recorded.
  std::vector<std::uint64_t> counts = {};
  /// Without distances: by the instructions from the overflow to the recorded one, 1 to
  /// `iteration`.
  OffsetCounts delays = {};
  std::uint64_t left_out = 0;  ///< a sample is elsewhere, or records were lost or throttled between

  /// A pair of samples `period` events and a delay apart, at events `from` and `to` of the
  /// iteration.
  void add(std::uint64_t from, std::uint64_t to, std::uint64_t period);
  std::uint64_t pairs() const {
    return std::accumulate(counts.begin(), counts.end(), delays.total());
  }
  /// Of the same target.
  SamplePairs& operator+=(const SamplePairs& more);
  bool is_like(const SamplePairs& other) const {
    return distances == other.distances && iteration == other.iteration;
  }
};

/// The delay T: the first event that retires at least T instructions after the overflow is
/// recorded. 1: the next event.
struct Delay {
  std::uint64_t low = 0, high = 0;  ///< T: these predict the most next samples, and equally many
  double predicted = 0;             ///< share of next samples that T predicts
  double independent = 0;           ///< the share to expect of independent samples
  /// Instructions from the overflow to the recorded event.
  std::uint64_t p5 = 0, p50 = 0, p95 = 0;
};

/// Pairs by the instructions from the overflow to the recorded event, at least 1 and at most those
/// of an iteration.
OffsetCounts delays_of(const SamplePairs& pairs);

/// The share of overflows at each event of an iteration. Empty: without distances, or with fewer
/// than kFewestDelayPairs.
std::vector<double> overflow_shares(const SamplePairs& pairs);

/// The share of next samples that a delay of `delay` instructions predicts, of pairs with
/// distances.
double predicted_share(const SamplePairs& pairs, std::uint64_t delay);

/// The share of samples at each event of an iteration if the counter overflows at each of them
/// equally often and the first event at least `delay` instructions later, or the next one, is
/// recorded. An event with the share 0 is in the shadow of those before it. `distances`: as of
/// SamplePairs. `overflows`: their shares, instead of equal ones.
std::vector<double> shadowed_shares(std::span<const std::uint64_t> distances, std::uint64_t delay,
                                    std::span<const double> overflows = {});

/// nullopt where no T predicts significantly more next samples than independent ones would allow
/// (p < 1e-6, Bonferroni over the T that differ), or fewer than 100 pairs. T is between 1 and an
/// iteration; a longer one is taken for its remainder. `samples`: for `SamplePairs` without
/// distances, by offset.
std::optional<Delay> delay_of(const SamplePairs& pairs, const OffsetCounts& samples);

/// "43", "42 to 46"
std::string range_of(const Delay& delay);

/// Fewer pairs show nothing.
inline constexpr std::uint64_t kFewestDelayPairs = 100;

/// "43 instructions from overflow to record (p5 41, p50 44, p95 62); predicts 93% of 4,999 next
/// samples (independent: 23%)"
std::string describe(const Delay& delay, const SamplePairs& pairs);

}  // namespace skid::analysis
