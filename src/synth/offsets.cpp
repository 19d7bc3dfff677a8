#include "src/synth/offsets.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace skid::synth {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// `part` of `count` samples over `width` offsets: those of the first `part` offsets, rounded down.
std::uint64_t spread(std::uint64_t count, std::uint64_t part, std::uint64_t width) {
  // In two steps, so that nothing overflows: width is at most 2^23.
  return count / width * part + count % width * part / width;
}

std::int64_t landing(const NormalCycles& delay, double cycles) {
  const double retired = std::floor(std::max(cycles, 0.0) / delay.cycles_per_nop);
  // A double beyond the bounds must not be converted.
  const auto instructions =
      static_cast<std::uint64_t>(std::min(retired, static_cast<double>(kFurthestOffset - 1)));
  const std::uint64_t whole_groups = instructions / delay.retire_group * delay.retire_group;
  return static_cast<std::int64_t>(whole_groups) + 1;
}

}  // namespace

std::map<std::int64_t, std::uint64_t> Empirical::counts() const {
  std::map<std::int64_t, std::uint64_t> counts;
  for (const Row& row : rows) {
    const auto width = static_cast<std::uint64_t>(row.highest - row.lowest + 1);
    for (std::uint64_t i = 0; i < width; ++i) {
      const std::uint64_t here = spread(row.count, i + 1, width) - spread(row.count, i, width);
      if (here > 0) counts[row.lowest + static_cast<std::int64_t>(i)] += here;
    }
  }
  return counts;
}

std::uint64_t Empirical::total() const {
  std::uint64_t total = 0;
  for (const Row& row : rows) total += row.count;
  return total;
}

std::uint64_t Empirical::span() const {
  std::uint64_t span = 0;
  for (const Row& row : rows) span += static_cast<std::uint64_t>(row.highest - row.lowest) + 1;
  return span;
}

OffsetSampler::OffsetSampler(const Distribution& distribution) {
  std::visit(Overloaded{
                 [this](const Constant& constant) { kind_ = constant; },
                 [this](const Uniform& uniform) { kind_ = uniform; },
                 [this](const NormalCycles& normal) { kind_ = normal; },
                 [this](const Empirical& empirical) {
                   Cumulated cumulated;
                   std::uint64_t sum = 0;
                   for (const auto& [offset, count] : empirical.counts()) {
                     sum += count;
                     cumulated.offsets.push_back(offset);
                     cumulated.counts.push_back(sum);
                   }
                   kind_ = std::move(cumulated);
                 },
                 [this](const Mixture& mixture) {
                   Parts parts;
                   parts.shares = mixture.shares;
                   for (const auto& part : mixture.parts) parts.samplers.emplace_back(part);
                   kind_ = std::move(parts);
                 },
             },
             distribution.kind);
}

std::int64_t OffsetSampler::draw(Random& random) const {
  return std::visit(
      Overloaded{
          [](const Constant& constant) { return constant.offset; },
          [&](const Uniform& uniform) {
            const auto width = static_cast<std::uint64_t>(uniform.highest - uniform.lowest + 1);
            return uniform.lowest + static_cast<std::int64_t>(random.below(width));
          },
          [&](const NormalCycles& delay) {
            const double deviate = random.normal();
            return landing(delay, delay.mean + delay.stddev * deviate);
          },
          [&](const Cumulated& cumulated) {
            const std::uint64_t drawn = random.below(cumulated.counts.back());
            const auto found =
                std::upper_bound(cumulated.counts.begin(), cumulated.counts.end(), drawn);
            return cumulated.offsets[static_cast<std::size_t>(found - cumulated.counts.begin())];
          },
          [&](const Parts& parts) {
            double left = random.share();
            std::size_t part = 0;
            // The last part has what rounding leaves.
            while (part + 1 < parts.shares.size() && left >= parts.shares[part]) {
              left -= parts.shares[part++];
            }
            return parts.samplers[part].draw(random);
          },
      },
      kind_);
}

}  // namespace skid::synth
