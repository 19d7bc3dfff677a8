// Distributions of offsets with known quantiles and means, and samples of them.
#pragma once

#include "analysis/offset_counts.h"
#include "src/support/random.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace skid::test {

/// Counts by offset.
inline analysis::OffsetCounts offsets(
    const std::vector<std::pair<std::int64_t, std::uint64_t>>& counts) {
  analysis::OffsetCounts result;
  for (const auto& [offset, count] : counts) result.add(offset, count);
  return result;
}

/// `count` samples at each `step`-th offset from `first` to `last`.
inline analysis::OffsetCounts every_offset(std::int64_t first, std::int64_t last,
                                           std::uint64_t count = 1, std::int64_t step = 1) {
  analysis::OffsetCounts result;
  for (std::int64_t offset = first; offset <= last; offset += step) result.add(offset, count);
  return result;
}

/// A lot of 2^45 samples, drawn from with replacement.
class OffsetModel {
 public:
  /// Offsets from `lowest` to `highest`, each with a probability in proportion to its weight.
  OffsetModel(std::string name, std::int64_t lowest, std::int64_t highest,
              const std::function<double(double)>& weight)
      : name_(std::move(name)) {
    constexpr double kLot = 0x1p45;
    double all = 0;
    for (std::int64_t i = lowest; i <= highest; ++i) all += weight(static_cast<double>(i));
    for (std::int64_t i = lowest; i <= highest; ++i) {
      const double share = weight(static_cast<double>(i)) / all;
      lot_.add(i, static_cast<std::uint64_t>(std::llround(kLot * share)));
    }
    std::uint64_t below = 0;
    for (const auto& [offset, count] : lot_.counts()) {
      below += count;
      ends_.emplace_back(below, offset);
    }
  }

  const std::string& name() const { return name_; }
  /// With the quantiles and the mean of the model.
  const analysis::OffsetCounts& lot() const { return lot_; }
  double largest_atom() const {
    return static_cast<double>(lot_.count_at(lot_.mode())) / static_cast<double>(lot_.total());
  }

  analysis::OffsetCounts draw(Random& random, std::uint64_t samples) const {
    analysis::OffsetCounts drawn;
    std::vector<std::uint64_t> counts(ends_.size());
    for (std::uint64_t i = 0; i < samples; ++i) {
      const std::pair at(random.below(lot_.total()), INT64_MAX);
      ++counts[static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), at) -
                                        ends_.begin())];
    }
    for (std::size_t i = 0; i < counts.size(); ++i) drawn.add(ends_[i].second, counts[i]);
    return drawn;
  }

  static OffsetModel normal(double mean, double deviation) {
    const double reach = 6 * deviation + 1;
    return {"normal", std::llround(mean - reach), std::llround(mean + reach), [=](double x) {
              return std::exp(-(x - mean) * (x - mean) / (2 * deviation * deviation));
            }};
  }
  /// From 1 on, falling to 1/e over `length`.
  static OffsetModel falling(double length) {
    return {"falling", 1, std::llround(12 * length),
            [=](double x) { return std::exp(-x / length); }};
  }
  /// Hits, and falling counts for the rest.
  static OffsetModel hits_and_tail(double hits, double length) {
    const double sum = 1 / std::expm1(1 / length);
    return {"hits and tail", 0, std::llround(12 * length),
            [=](double x) { return x == 0 ? hits : (1 - hits) * std::exp(-x / length) / sum; }};
  }
  static OffsetModel two_atoms(double share_of_first, std::int64_t distance) {
    return {"two atoms", 0, distance, [=](double x) {
              if (x == 0) return share_of_first;
              return x == static_cast<double>(distance) ? 1 - share_of_first : 0.0;
            }};
  }
  static OffsetModel one_point(std::int64_t offset) {
    return {"one point", offset, offset, [](double) { return 1.0; }};
  }
  static OffsetModel even(std::int64_t lowest, std::int64_t highest) {
    return {"even", lowest, highest, [](double) { return 1.0; }};
  }

 private:
  std::string name_;
  analysis::OffsetCounts lot_;
  std::vector<std::pair<std::uint64_t, std::int64_t>> ends_;  ///< cumulative counts, offsets
};

}  // namespace skid::test
