#include "plots/cumulative.h"

#include <algorithm>

namespace skid::plots {

std::vector<Step> cumulative_shares(const analysis::Measurement& measurement) {
  const analysis::HistogramSlice& histogram = measurement.histogram;
  std::uint64_t all = histogram.underflow + histogram.overflow;
  for (const analysis::Bin& bin : histogram.bins) all += bin.count;
  std::vector<Step> steps;
  if (all == 0) return steps;
  std::uint64_t sum = 0;
  const auto add = [&](std::int64_t offset, std::uint64_t count) {
    if (count == 0) return;
    sum += count;
    steps.push_back({offset, static_cast<double>(sum) / static_cast<double>(all)});
  };
  add(measurement.lowest_offset, histogram.underflow);
  for (const analysis::Bin& bin : histogram.bins) {
    std::uint64_t rest = bin.count;
    if (bin.lo == 0) {
      const std::uint64_t hits = std::min(rest, measurement.samples[analysis::SampleClass::hit]);
      add(0, hits);
      rest -= hits;
    }
    add(bin.hi - 1, rest);
  }
  return steps;
}

}  // namespace skid::plots
