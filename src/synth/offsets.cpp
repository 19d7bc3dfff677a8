#include "src/synth/offsets.h"

#include "src/support/random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <variant>
#include <vector>

namespace skid::synth {
namespace {

std::uint64_t width_of(const OffsetTable::Row& row) {
  return static_cast<std::uint64_t>(row.highest - row.lowest) + 1;
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

std::map<std::int64_t, std::uint64_t> OffsetTable::counts() const {
  std::map<std::int64_t, std::uint64_t> counts;
  for (const Row& row : rows) {
    const std::uint64_t width = width_of(row);
    for (std::uint64_t i = 0; i < width; ++i) {
      const std::uint64_t here = row.count * (i + 1) / width - row.count * i / width;
      if (here > 0) counts[row.lowest + static_cast<std::int64_t>(i)] += here;
    }
  }
  return counts;
}

std::uint64_t OffsetTable::total() const {
  std::uint64_t total = 0;
  for (const Row& row : rows) total += row.count;
  return total;
}

OffsetSampler::OffsetSampler(const Distribution& distribution) : distribution_(distribution) {
  const auto* table = std::get_if<OffsetTable>(&distribution);
  if (table == nullptr) return;
  for (const auto& row : table->rows) {
    counts_.push_back((counts_.empty() ? 0 : counts_.back()) + row.count);
  }
}

std::int64_t OffsetSampler::draw(Random& random) const {
  if (const auto* delay = std::get_if<NormalCycles>(&distribution_)) {
    const double deviate = random.normal();
    return landing(*delay, delay->mean + delay->stddev * deviate);
  }
  auto row = std::get<OffsetTable>(distribution_).rows.begin();
  if (counts_.size() > 1) {
    const std::uint64_t drawn = random.below(counts_.back());
    row += std::ranges::upper_bound(counts_, drawn) - counts_.begin();
  }
  const std::uint64_t width = width_of(*row);
  return row->lowest + (width > 1 ? static_cast<std::int64_t>(random.below(width)) : 0);
}

}  // namespace skid::synth
