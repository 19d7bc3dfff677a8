#include "analysis/distance.h"

#include "analysis/offset_counts.h"

#include <iterator>
#include <map>
#include <utility>

namespace skid::analysis {

std::optional<Distance> summarize(const OffsetCounts& offsets,
                                  std::optional<std::int64_t> censored_from, double scale) {
  if (offsets.empty()) return std::nullopt;
  const std::int64_t p50 = offsets.quantile(0.50), p90 = offsets.quantile(0.90);
  const std::int64_t p99 = offsets.quantile(0.99), mode = offsets.mode();
  const std::int64_t min = offsets.counts().begin()->first, max = offsets.counts().rbegin()->first;
  const auto length = [scale](std::int64_t offset) { return static_cast<double>(offset) * scale; };
  const auto at_least = [censored_from](std::int64_t offset) {
    return censored_from && offset >= *censored_from;
  };
  return Distance{.min = length(min),
                  .p50 = length(p50),
                  .p90 = length(p90),
                  .p99 = length(p99),
                  .max = length(max),
                  .mean = offsets.mean() * scale,
                  .stddev = offsets.stddev() * scale,
                  .mode = length(mode),
                  .mode_share = static_cast<double>(offsets.count_at(mode)) /
                                static_cast<double>(offsets.total()),
                  .p50_at_least = at_least(p50),
                  .p90_at_least = at_least(p90),
                  .p99_at_least = at_least(p99),
                  .max_at_least = at_least(max)};
}

}  // namespace skid::analysis
