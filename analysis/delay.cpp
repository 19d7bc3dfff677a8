// How long PEBS takes from a counter's overflow to the record, computed from the order of samples.
//
// The overflow itself leaves no trace in a recording. But with a fixed period P and a known loop
// its place follows from the previous sample, because the counter is reloaded when a record is
// written. An example: K = 4 triggers alone cause the event, with these instructions from one to
// the next.
//
//   event      0          1     2                         3                    0 (next iteration)
//              |--- 10 ---|- 5 -|---------- 25 -----------|-------- 20 --------|
//
// With P = 1001, a sample of event 3 is followed by an overflow at event (3 + 1001) mod 4 = 0. If
// the next sample is of event 2, the record was written 10 + 5 = 15 instructions after the
// overflow.
//
// The model has one parameter T: the first event at least T instructions after the overflow is
// recorded. Event 1, 10 instructions after it, was not, and event 2, 15 after it, was: this pair
// allows T from 11 to 15. Each cell (overflow, recorded) of the K x K counts allows such a range,
// and the T that the most pairs allow wins. If each instruction is an event (an event that counts
// instructions), each pair allows a single T. A sum that steps up where a range begins and down
// after its end (changes_of()) finds it in one pass over the ends.
//
// A T is only reported if it would hardly ever predict as many next samples by chance. If samples
// were independent, it would predict the sum over all overflow events of their share times the
// share of the event that T predicts, and the number of predicted pairs would be binomial.
//
// Model, conditions and limits: docs/method.md, "Delay" and "Shadow".
#include "analysis/delay.h"

#include "analysis/distributions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace skid::analysis {
namespace {

constexpr double kSignificant = 1e-6;

/// Returns the first event at least `delay` instructions after event `overflow`. It is the next
/// event or a later one.
std::size_t recorded_at(std::span<const std::uint64_t> distances, std::size_t overflow,
                        std::uint64_t delay) {
  const auto iteration = std::accumulate(distances.begin(), distances.end(), std::uint64_t{0});
  // A whole iteration leads back to the same event.
  delay = delay == 0 ? 1 : (delay - 1) % iteration + 1;
  for (std::uint64_t passed = 0; passed < delay;) {
    passed += distances[overflow];
    overflow = (overflow + 1) % distances.size();
  }
  return overflow;
}

/// Returns the instructions from event `from` to the next event `to`: at least 1 and at most an
/// iteration.
std::uint64_t between(std::span<const std::uint64_t> distances, std::size_t from, std::size_t to) {
  std::uint64_t sum = 0;
  do {
    sum += distances[from];
    from = (from + 1) % distances.size();
  } while (from != to);
  return sum;
}

/// Returns how the number of pairs that T explains changes at each T.
std::map<std::uint64_t, std::int64_t> changes_of(const SamplePairs& pairs) {
  std::map<std::uint64_t, std::int64_t> changes;
  const auto add = [&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
    changes[first] += static_cast<std::int64_t>(count);
    changes[last + 1] -= static_cast<std::int64_t>(count);
  };
  for (const auto& [delay, count] : pairs.delays.counts()) {
    add(static_cast<std::uint64_t>(delay), static_cast<std::uint64_t>(delay), count);
  }
  const std::size_t events = pairs.distances.size();
  for (std::size_t i = 0; i < pairs.counts.size(); ++i) {
    if (pairs.counts[i] == 0) continue;
    // The range begins just beyond the event before the recorded one.
    const std::size_t to = i % events;
    const std::uint64_t last = between(pairs.distances, i / events, to);
    add(last - pairs.distances[(to + events - 1) % events] + 1, last, pairs.counts[i]);
  }
  return changes;
}

/// Returns the share of next samples that T predicts if samples are independent and have the same
/// shares of events.
double independent_share(const SamplePairs& pairs, std::uint64_t delay) {
  const std::size_t events = pairs.distances.size();
  const std::vector<double> left = overflow_shares(pairs);
  std::vector<double> right(events);
  for (std::size_t i = 0; i < pairs.counts.size(); ++i) {
    right[i % events] += static_cast<double>(pairs.counts[i]) / static_cast<double>(pairs.pairs());
  }
  double sum = 0;
  for (std::size_t overflow = 0; overflow < events; ++overflow) {
    sum += left[overflow] * right[recorded_at(pairs.distances, overflow, delay)];
  }
  return sum;
}

}  // namespace

void SamplePairs::add(std::uint64_t from, std::uint64_t to, std::uint64_t period) {
  if (distances.empty()) {
    const std::uint64_t delay = (to + 2 * iteration - from - period % iteration) % iteration;
    delays.add(static_cast<std::int64_t>(delay == 0 ? iteration : delay), 1);
    return;
  }
  const std::uint64_t events = distances.size();
  counts.resize(events * events);
  ++counts[(from + period % events) % events * events + to];
}

SamplePairs& SamplePairs::operator+=(const SamplePairs& more) {
  counts.resize(std::max(counts.size(), more.counts.size()));
  for (std::size_t i = 0; i < more.counts.size(); ++i) counts[i] += more.counts[i];
  delays += more.delays;
  left_out += more.left_out;
  return *this;
}

OffsetCounts delays_of(const SamplePairs& pairs) {
  OffsetCounts delays = pairs.delays;
  const std::size_t events = pairs.distances.size();
  for (std::size_t i = 0; i < pairs.counts.size(); ++i) {
    if (pairs.counts[i] == 0) continue;
    delays.add(static_cast<std::int64_t>(between(pairs.distances, i / events, i % events)),
               pairs.counts[i]);
  }
  return delays;
}

std::vector<double> overflow_shares(const SamplePairs& pairs) {
  const std::size_t events = pairs.distances.size();
  if (events == 0 || pairs.pairs() < kFewestDelayPairs) return {};
  std::vector<double> shares(events);
  for (std::size_t i = 0; i < pairs.counts.size(); ++i) {
    shares[i / events] += static_cast<double>(pairs.counts[i]) / static_cast<double>(pairs.pairs());
  }
  return shares;
}

double predicted_share(const SamplePairs& pairs, std::uint64_t delay) {
  const std::size_t events = pairs.distances.size();
  std::uint64_t sum = 0;
  for (std::size_t overflow = 0; overflow * events < pairs.counts.size(); ++overflow) {
    sum += pairs.counts[overflow * events + recorded_at(pairs.distances, overflow, delay)];
  }
  return static_cast<double>(sum) / static_cast<double>(pairs.pairs());
}

std::vector<double> shadowed_shares(std::span<const std::uint64_t> distances, std::uint64_t delay,
                                    std::span<const double> overflows) {
  std::vector<double> shares(distances.size());
  for (std::size_t overflow = 0; overflow < distances.size(); ++overflow) {
    shares[recorded_at(distances, overflow, delay)] +=
        overflows.empty() ? 1 / static_cast<double>(distances.size()) : overflows[overflow];
  }
  return shares;
}

std::optional<Delay> delay_of(const SamplePairs& pairs, const OffsetCounts& samples) {
  const std::uint64_t all = pairs.pairs();
  if (all < kFewestDelayPairs) return std::nullopt;
  const auto changes = changes_of(pairs);
  Delay best;
  std::int64_t explained = 0, most = 0;
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    explained += change->second;
    if (explained <= most) continue;
    most = explained;
    best.low = change->first;
    best.high = std::next(change)->first - 1;
  }
  const auto total = static_cast<double>(all);
  best.predicted = static_cast<double>(most) / total;
  // If each instruction is an event, an upper bound is used: the probability that two samples are
  // at the same instruction (Cauchy and Schwarz).
  best.independent =
      pairs.distances.empty() ? samples.concentration() : independent_share(pairs, best.low);
  best.p = binomial_upper_p(static_cast<std::uint64_t>(most), all, best.independent) *
           static_cast<double>(changes.size());
  if (best.p >= kSignificant) return std::nullopt;
  const OffsetCounts delays = delays_of(pairs);
  const auto quantile = [&](double share) {
    return static_cast<std::uint64_t>(delays.quantile(share));
  };
  best.p5 = quantile(0.05);
  best.p50 = quantile(0.50);
  best.p95 = quantile(0.95);
  return best;
}

}  // namespace skid::analysis
