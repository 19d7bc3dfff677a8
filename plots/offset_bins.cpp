#include "plots/offset_bins.h"

#include <algorithm>

namespace skid::plots {
namespace {

using analysis::Bin;
using analysis::bin_of;
using analysis::Measurement;
using analysis::SampleClass;

/// Share of a measurement's samples that may be beyond either end of the axis.
constexpr double kTail = 0.0005;
/// How many times longer than the central part the axis may be for the sake of the tails.
constexpr std::int64_t kLongestTails = 4;
/// Shorter axes make a single bar as wide as the panel.
constexpr std::int64_t kShortestSpan = 10;

struct Range {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;

  void include(std::int64_t first, std::int64_t last) {
    lowest = std::min(lowest, first);
    highest = std::max(highest, last);
  }
  std::int64_t span() const { return highest - lowest + 1; }
};

void include_central_part(const Measurement& measurement, Range& range) {
  const std::vector<Bin>& bins = measurement.histogram.bins;
  std::uint64_t sum = 0;
  for (const Bin& bin : bins) sum += bin.count;
  const auto tail = static_cast<std::uint64_t>(kTail * static_cast<double>(sum));
  std::uint64_t seen = 0;
  for (const Bin& bin : bins) {
    const std::uint64_t before = seen;
    seen += bin.count;
    if (seen > tail && sum - before > tail) range.include(bin.lo, bin.hi - 1);
  }
}

}  // namespace

std::int64_t round_up_nicely(double value) {
  // Counts and offsets stay far below the largest decade.
  constexpr std::int64_t kLargest = 1'000'000'000'000'000'000;
  for (std::int64_t decade = 1; decade < kLargest; decade *= 10) {
    for (const std::int64_t step : {1, 2, 5}) {
      if (static_cast<double>(step * decade) >= value) return step * decade;
    }
  }
  return kLargest;
}

OffsetAxis choose_axis(const std::vector<output::Column>& columns, std::int64_t most_bins) {
  Range whole, central;
  std::int64_t unit = 1;
  for (const output::Column& column : columns) {
    const Measurement& measurement = *column.measurement;
    unit = std::max(unit, measurement.bin_width);
    for (const Bin& bin : measurement.histogram.bins) whole.include(bin.lo, bin.hi - 1);
    include_central_part(measurement, central);
  }
  Range range = whole.span() <= kLongestTails * central.span() ? whole : central;
  const std::int64_t missing = kShortestSpan * unit - range.span();
  if (missing > 0) range.include(range.lowest - missing / 2, range.highest + (missing + 1) / 2);

  OffsetAxis axis;
  const double units = static_cast<double>(range.span()) / static_cast<double>(unit);
  axis.width = unit * round_up_nicely(units / static_cast<double>(most_bins));
  axis.lowest = bin_of(range.lowest, axis.width) * axis.width;
  axis.highest = (bin_of(range.highest, axis.width) + 1) * axis.width - 1;
  return axis;
}

double end_of_hits(const OffsetAxis& axis) {
  // Wide enough to be visible, but at least one instruction.
  constexpr double kNarrowest = 0.008;  // of the axis
  const auto span = static_cast<double>(axis.highest - axis.lowest + 1);
  const double half = std::max(1.0, static_cast<double>(axis.width) / 2);
  return std::clamp(kNarrowest * span, 1.0, half) - 0.5;
}

Bars bars_of(const Measurement& measurement, const OffsetAxis& axis) {
  const auto histogram = histogram_of(measurement.basis.tally, axis);
  Bars result;
  result.beyond = histogram.underflow + histogram.overflow;
  for (const Bin& bin : histogram.bins) {
    const double left = static_cast<double>(bin.lo) - 0.5;
    const double right = static_cast<double>(bin.hi) - 0.5;
    const std::uint64_t hits = bin[SampleClass::hit];
    if (hits > 0) {
      result.bars.push_back({bin.lo, SampleClass::hit, 0, hits, left, end_of_hits(axis)});
    }
    std::uint64_t sum = 0;
    for (const auto sample_class :
         {SampleClass::skid, SampleClass::before, SampleClass::censored}) {
      const std::uint64_t count = bin[sample_class];
      if (count == 0) continue;
      result.bars.push_back(
          {bin.lo, sample_class, sum, count, bin.lo == 0 ? end_of_hits(axis) : left, right});
      sum += count;
    }
    result.highest = std::max({result.highest, hits, sum});
  }
  return result;
}

}  // namespace skid::plots
