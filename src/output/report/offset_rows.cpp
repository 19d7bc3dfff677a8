#include "src/output/report/offset_rows.h"

#include "analysis/wording.h"

#include <algorithm>
#include <bit>
#include <map>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Bin;
using analysis::Measurement;
using analysis::SampleClass;

constexpr std::size_t kMostRows = 22;

/// The samples that are no hits, by the begin of their bin in units of the bin width.
using Counts = std::map<std::int64_t, std::uint64_t>;

Counts misses_of(const Measurement& measurement) {
  Counts misses;
  const std::uint64_t hits = measurement.samples[SampleClass::hit];
  for (const Bin& bin : measurement.histogram.bins) {
    // Hits are exactly the samples at offset 0, and one bin holds that.
    const bool holds_hits = bin.lo <= 0 && 0 < bin.hi;
    const std::uint64_t count = holds_hits ? bin.count - std::min(hits, bin.count) : bin.count;
    if (count > 0) misses[bin.lo / measurement.bin_width] += count;
  }
  return misses;
}

/// Names bins by the offsets in them that the target has.
class Names {
 public:
  explicit Names(const Measurement& measurement)
      : unit_(measurement.bin_width),
        lowest_(measurement.lowest_offset),
        highest_(measurement.highest_offset) {}

  /// Units first to last, without offset 0, which is the hits' own.
  std::string of_units(std::int64_t first_unit, std::int64_t last_unit) const {
    std::int64_t first = std::max(first_unit * unit_, lowest_);
    const std::int64_t last = std::min(last_unit * unit_ + (unit_ - 1), highest_);
    if (first == 0) first = 1;
    if (first >= last) return analysis::signed_number(first);
    return fmt::format("{} to {}", analysis::signed_number(first), analysis::signed_number(last));
  }

  /// 0 for the bin at 0, then ±1 for one unit, ±2 for two and three, ±3 for four to seven, …
  std::string of_doubling_bin(std::int64_t bin) const {
    if (bin == 0) return of_units(0, 0);
    const std::int64_t near = std::int64_t{1} << ((bin < 0 ? -bin : bin) - 1);
    const std::int64_t far = 2 * near - 1;
    return bin < 0 ? of_units(-far, -near) : of_units(near, far);
  }

 private:
  std::int64_t unit_, lowest_, highest_;
};

std::int64_t floor_divide(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

/// The smallest of 1, 2, 5, 10, 20, 25, 50, 100, … units with which the range has few enough bins.
std::int64_t even_width(std::int64_t first, std::int64_t last) {
  const auto fits = [first, last](std::int64_t width) {
    const std::int64_t bins = floor_divide(last, width) - floor_divide(first, width) + 1;
    return bins <= static_cast<std::int64_t>(kMostRows);
  };
  for (const std::int64_t width : {1, 2, 5}) {
    if (fits(width)) return width;
  }
  for (std::int64_t decade = 1;; decade *= 10) {
    for (const std::int64_t step : {10, 20, 25, 50}) {
      if (fits(step * decade)) return step * decade;
    }
  }
}

Counts rebin_evenly(const Counts& misses, std::int64_t width) {
  Counts bins;
  for (const auto& [unit, count] : misses) bins[floor_divide(unit, width)] += count;
  return bins;
}

/// The bin whose number `Names::of_doubling_bin` takes.
std::int64_t doubling_bin(std::int64_t unit) {
  const auto distance = static_cast<std::uint64_t>(unit < 0 ? -unit : unit);
  const auto bin = static_cast<std::int64_t>(std::bit_width(distance));
  return unit < 0 ? -bin : bin;
}

bool over_half_in_one(const Counts& bins) {
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
  for (const auto& [bin, count] : bins) {
    sum += count;
    most = std::max(most, count);
  }
  return most > sum / 2;
}

/// Puts a row for each bin from the first to the last, with the hits between those before and
/// after the trigger.
template <typename Name>
void add_all_bins(const Counts& bins, std::uint64_t hits, bool skip_zero, Name name,
                  std::vector<OffsetRow>& rows) {
  const std::int64_t first = std::min<std::int64_t>(bins.begin()->first, 0);
  const std::int64_t last = std::max<std::int64_t>(bins.rbegin()->first, 0);
  for (std::int64_t bin = first; bin <= last; ++bin) {
    if (bin == 0) rows.push_back({"hit", hits, RowKind::hit});
    if (bin == 0 && skip_zero) continue;
    const auto found = bins.find(bin);
    rows.push_back({name(bin), found == bins.end() ? 0 : found->second, RowKind::other});
  }
}

void add_recorded_bins(const Counts& bins, std::uint64_t hits, const Names& names,
                       std::vector<OffsetRow>& rows) {
  bool hit_is_in = false;
  for (const auto& [bin, count] : bins) {
    if (bin >= 0 && !hit_is_in) {
      rows.push_back({"hit", hits, RowKind::hit});
      hit_is_in = true;
    }
    rows.push_back({names.of_units(bin, bin), count, RowKind::other});
  }
  if (!hit_is_in) rows.push_back({"hit", hits, RowKind::hit});
}

}  // namespace

OffsetRows offset_rows(const Measurement& measurement) {
  OffsetRows result;
  const Counts misses = misses_of(measurement);
  const std::uint64_t hits = measurement.samples[SampleClass::hit];
  const std::int64_t unit = measurement.bin_width;
  const Names names(measurement);
  std::vector<OffsetRow>& rows = result.rows;
  if (measurement.histogram.underflow > 0) {
    rows.push_back({"below the axis", measurement.histogram.underflow, RowKind::beyond_axis});
  }

  result.width = unit;
  if (misses.size() < kMostRows) {
    add_recorded_bins(misses, hits, names, rows);
  } else {
    const std::int64_t width = even_width(misses.begin()->first, misses.rbegin()->first);
    const Counts even = rebin_evenly(misses, width);
    if (over_half_in_one(even)) {
      Counts doubling;
      for (const auto& [offset, count] : misses) doubling[doubling_bin(offset)] += count;
      result.binning = Binning::doubling;
      add_all_bins(
          doubling, hits, unit == 1,
          [&names](std::int64_t bin) { return names.of_doubling_bin(bin); }, rows);
    } else {
      result.binning = Binning::even;
      result.width = width * unit;
      add_all_bins(
          even, hits, result.width == 1,
          [&names, width](std::int64_t bin) {
            return names.of_units(bin * width, bin * width + width - 1);
          },
          rows);
    }
  }
  if (measurement.histogram.overflow > 0) {
    rows.push_back({"above the axis", measurement.histogram.overflow, RowKind::beyond_axis});
  }
  return result;
}

}  // namespace skid::output
