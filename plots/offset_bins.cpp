#include "plots/offset_bins.h"

#include <algorithm>
#include <array>
#include <map>

namespace skid::plots {
namespace {

using analysis::Bin;
using analysis::Measurement;
using analysis::SampleClass;

/// Share of a measurement's samples that may be beyond either end of the axis.
constexpr double kTail = 0.0005;
/// How many times longer than the central part the axis may be for the sake of the tails.
constexpr std::int64_t kLongestTails = 4;
/// Shorter axes make a single bar as wide as the panel.
constexpr std::int64_t kShortestSpan = 10;
/// hit, skid, before and censored, the first of the classes.
constexpr std::size_t kLocatedClasses = 4;
static_assert(static_cast<std::size_t>(SampleClass::censored) + 1 == kLocatedClasses);

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

std::int64_t floor_to(std::int64_t value, std::int64_t width) {
  const std::int64_t remainder = value % width;
  return value - (remainder < 0 ? remainder + width : remainder);
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
  axis.lowest = floor_to(range.lowest, axis.width);
  axis.highest = floor_to(range.highest, axis.width) + axis.width - 1;
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
  const std::uint64_t hits = measurement.samples[SampleClass::hit];
  std::map<std::int64_t, std::array<std::uint64_t, kLocatedClasses>> bins;
  Bars result;
  result.beyond = measurement.histogram.underflow + measurement.histogram.overflow;
  for (const Bin& bin : measurement.histogram.bins) {
    if (bin.lo < axis.lowest || bin.lo > axis.highest) {
      result.beyond += bin.count;
      continue;
    }
    auto& counts = bins[floor_to(bin.lo, axis.width)];
    const auto add = [&counts](SampleClass sample_class, std::uint64_t count) {
      counts[static_cast<std::size_t>(sample_class)] += count;
      return count;
    };
    std::uint64_t rest = bin.count;
    // Hits are exactly the samples at offset 0.
    if (bin.lo <= 0 && 0 < bin.hi) rest -= add(SampleClass::hit, std::min(hits, rest));
    rest -= add(SampleClass::censored, std::min(bin.censored, rest));
    add(bin.lo < 0 ? SampleClass::before : SampleClass::skid, rest);
  }
  for (const auto& [lo, counts] : bins) {
    const double left = static_cast<double>(lo) - 0.5;
    const double right = left + static_cast<double>(axis.width);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kLocatedClasses; ++i) {
      const auto sample_class = static_cast<SampleClass>(i);
      if (counts[i] == 0) continue;
      if (sample_class == SampleClass::hit) {
        result.bars.push_back({lo, sample_class, 0, counts[i], left, end_of_hits(axis)});
        result.highest = std::max(result.highest, counts[i]);
        continue;
      }
      result.bars.push_back(
          {lo, sample_class, sum, counts[i], lo == 0 ? end_of_hits(axis) : left, right});
      sum += counts[i];
    }
    result.highest = std::max(result.highest, sum);
  }
  return result;
}

}  // namespace skid::plots
