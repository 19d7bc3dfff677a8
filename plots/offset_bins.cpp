#include "plots/offset_bins.h"

#include "plots/labels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

OffsetAxis choose_axis(const std::vector<output::Column>& columns, std::int64_t most_bins) {
  Range whole, central;
  std::int64_t unit = 1, group = 1;
  for (const output::Column& column : columns) {
    const Measurement& measurement = *column.measurement;
    unit = std::max(unit, measurement.bin_width);
    const auto& groups = measurement.retirement_groups;
    if (groups && groups->strongest) group = std::lcm(group, std::int64_t{*groups->strongest});
    for (const Bin& bin : measurement.histogram.bins) whole.include(bin.lo, bin.hi - 1);
    include_central_part(measurement, central);
  }
  // Other bins have different numbers of groups: a comb that is not in the data.
  if (unit == 1) unit = group;
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

Bars bars_of(const Measurement& measurement, const OffsetAxis& axis, double end_of_hits) {
  const auto histogram = histogram_of(measurement.basis.tally, axis);
  Bars result;
  result.beyond = histogram.underflow + histogram.overflow;
  for (const Bin& bin : histogram.bins) {
    const double left = static_cast<double>(bin.lo) - 0.5;
    const double right = static_cast<double>(bin.hi) - 0.5;
    const std::uint64_t hits = bin[SampleClass::hit];
    if (hits > 0) {
      result.bars.push_back({bin.lo, SampleClass::hit, 0, hits, left, end_of_hits});
    }
    std::uint64_t sum = 0;
    for (const auto sample_class :
         {SampleClass::skid, SampleClass::before, SampleClass::censored}) {
      const std::uint64_t count = bin[sample_class];
      if (count == 0) continue;
      result.bars.push_back(
          {bin.lo, sample_class, sum, count, bin.lo == 0 ? end_of_hits : left, right});
      sum += count;
    }
    result.highest = std::max({result.highest, hits, sum});
  }
  return result;
}

namespace {

/// "-10k", "5", "1M"
std::string short_number(double number) {
  const double size = std::abs(number);
  if (size >= 1e6) return fmt::format("{:g}M", number / 1e6);
  return size >= 1e4 ? fmt::format("{:g}k", number / 1e3) : fmt::format("{:g}", number);
}

}  // namespace

double OffsetScale::place_of(double offset) const {
  const auto at = [this](double x) {
    return is_logarithmic ? std::copysign(std::log10(1 + std::abs(x)), x) : x;
  };
  return (at(offset) - at(low)) / (at(high) - at(low));
}

std::vector<std::string> OffsetScale::settings(double plot_width, const Paper& paper) const {
  const double label = paper.width_of(6);
  std::vector<double> kept;
  const auto add = [&](double at) {
    const bool is_free = std::all_of(kept.begin(), kept.end(), [&](double other) {
      return std::abs(place_of(at) - place_of(other)) * plot_width >= paper.width_of(3);
    });
    if (at >= low && at <= high && is_free) kept.push_back(at);
  };
  if (is_logarithmic) {
    // From 1 on a label for each decade, or for each second one.
    const double decades = std::log10(1 + std::abs(low)) + std::log10(1 + std::abs(high));
    const double step = std::max(1.0, std::ceil(decades * label / plot_width));
    add(0);
    for (double power = 0; power <= 18; power += step) {
      add(std::pow(10, power));
      add(-std::pow(10, power));
    }
  } else {
    const auto step = static_cast<double>(round_up_nicely((high - low) * label / plot_width));
    for (double at = std::ceil(low / step) * step; at <= high; at += step) add(at + 0.0);
  }
  std::vector<std::string> tics;
  for (const double at : kept) tics.push_back(fmt::format("'{}' {:.10g}", short_number(at), at));
  return {is_logarithmic
              ? "set nonlinear x via sgn(x)*log10(1+abs(x)) inverse sgn(x)*(10**abs(x)-1)"
              : "unset nonlinear x",
          fmt::format("set xrange [{:.10g}:{:.10g}]", low, high),
          fmt::format("set xtics ({})", fmt::join(tics, ", "))};
}

OffsetScale linear_scale(const OffsetAxis& axis) {
  const double pad = 0.015 * static_cast<double>(axis.highest - axis.lowest + 1);
  return {static_cast<double>(axis.lowest) - 0.5 - pad,
          static_cast<double>(axis.highest) + 0.5 + pad};
}

OffsetScale scale_of_lines(const OffsetAxis& axis) {
  constexpr std::int64_t kLongestLinear = 100;
  if (axis.highest - axis.lowest <= kLongestLinear) return linear_scale(axis);
  const double low = std::min(-0.8, static_cast<double>(axis.lowest) * 1.3);
  return {low, std::max(0.5, static_cast<double>(axis.highest) * 1.3), true};
}

std::string name_at_height(double height, const Rows& line, const OffsetScale& scale,
                           const std::string& quoted, const std::string& style) {
  const auto point = std::find_if(line.begin(), line.end(),
                                  [height](const auto& one) { return one[1] >= height; });
  const double at = point == line.end() ? 0 : point->front();
  return label_at(at, height, quoted, style, scale.place_of(at) > 0.7);
}

}  // namespace skid::plots
