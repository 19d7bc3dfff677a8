#include "analysis/wording.h"
#include "src/output/escape.h"
#include "src/output/report/parts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Bin;
using analysis::bin_of;
using analysis::Measurement;
using analysis::SampleClass;

constexpr std::size_t kMostOffsetRows = 22;

/// The samples that are no hits, by the number of their bin.
using Counts = std::map<std::int64_t, std::uint64_t>;

Counts misses_of(const analysis::Histogram& histogram, std::int64_t width) {
  Counts misses;
  for (const Bin& bin : histogram.bins) {
    const std::uint64_t count = bin.count - bin[SampleClass::hit];
    if (count > 0) misses[bin.lo / width] = count;
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

/// The smallest of 1, 2, 5, 10, 20, 25, 50, 100, … units with which the range has few enough bins.
std::int64_t even_width(std::int64_t first, std::int64_t last) {
  const auto fits = [first, last](std::int64_t width) {
    const std::int64_t bins = bin_of(last, width) - bin_of(first, width) + 1;
    return bins <= static_cast<std::int64_t>(kMostOffsetRows);
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
    if (bin == 0) rows.push_back({"hit", hits, OffsetRowKind::hit});
    if (bin == 0 && skip_zero) continue;
    const auto found = bins.find(bin);
    rows.push_back({name(bin), found == bins.end() ? 0 : found->second, OffsetRowKind::other});
  }
}

void add_recorded_bins(const Counts& bins, std::uint64_t hits, const Names& names,
                       std::vector<OffsetRow>& rows) {
  bool hit_is_in = false;
  for (const auto& [bin, count] : bins) {
    if (bin >= 0 && !hit_is_in) {
      rows.push_back({"hit", hits, OffsetRowKind::hit});
      hit_is_in = true;
    }
    rows.push_back({names.of_units(bin, bin), count, OffsetRowKind::other});
  }
  if (!hit_is_in) rows.push_back({"hit", hits, OffsetRowKind::hit});
}

std::string bar(const Page& page, std::uint64_t count, std::uint64_t most, std::size_t width) {
  if (count == 0 || most == 0) return {};
  const double full =
      static_cast<double>(width) * static_cast<double>(count) / static_cast<double>(most);
  if (!page.unicode)
    return std::string(static_cast<std::size_t>(std::max(1L, std::lround(full))), '#');
  static constexpr std::array<const char*, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(std::max(1L, std::lround(full * 8)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

std::string binning_text(const OffsetRows& rows) {
  if (rows.binning == Binning::doubling) return "bins double in width";
  if (rows.width == 1) return "a row per offset";
  return fmt::format("bins of {} instructions", rows.width);
}

struct Bars {
  const Column* column;
  OffsetRows rows;
};

std::string histogram(const Page& page, const Bars& bars, std::size_t name_width,
                      std::size_t count_width) {
  const Measurement& m = *bars.column->measurement;
  std::uint64_t most = 0;
  std::uint64_t sum = 0;
  for (const OffsetRow& row : bars.rows.rows) {
    most = std::max(most, row.count);
    sum += row.count;
  }
  constexpr std::size_t kPercentWidth = 10;
  const std::size_t lead = 2 * kIndent + name_width + 2 + count_width + kPercentWidth + 2;
  const std::size_t bar_width = page.width - lead;

  std::string text = '\n' + std::string(kIndent, ' ') + page.paint(bars.column->label, Ink::bold) +
                     page.paint(fmt::format("  {}, {}", analysis::counted(sum, "located sample"),
                                            binning_text(bars.rows)),
                                Ink::dim) +
                     '\n';
  for (const OffsetRow& row : bars.rows.rows) {
    const double share = static_cast<double>(row.count) / static_cast<double>(sum);
    const Ink ink = row.kind == OffsetRowKind::hit           ? Ink::green
                    : row.kind == OffsetRowKind::beyond_axis ? Ink::yellow
                                                             : Ink::plain;
    std::string line = std::string(2 * kIndent, ' ') +
                       page.paint(pad_left(row.name, name_width), ink) + "  " +
                       pad_left(fmt::format("{}", row.count), count_width) +
                       pad_left(analysis::percent(share), kPercentWidth) + "  " +
                       page.paint(bar(page, row.count, most, bar_width), ink);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  const std::uint64_t censored = m.samples[SampleClass::censored];
  if (censored > 0 && m.censored_from) {
    // Of several triggers that of the shortest runway, where others may go on.
    const std::string what = m.triggers.empty()
                                 ? "censored, the skid may be longer"
                                 : fmt::format("{} censored, their skid may be longer", censored);
    text +=
        std::string(2 * kIndent, ' ') +
        page.paint(fmt::format("from {} on: {}", analysis::signed_number(*m.censored_from), what),
                   Ink::dim) +
        '\n';
  }
  return text;
}

}  // namespace

OffsetRows offset_rows(const Measurement& measurement) {
  OffsetRows result;
  const std::uint64_t hits = measurement.samples[SampleClass::hit];
  const std::int64_t unit = measurement.bin_width;
  const Counts misses = misses_of(measurement.histogram, unit);
  const Names names(measurement);
  std::vector<OffsetRow>& rows = result.rows;
  if (measurement.histogram.underflow > 0) {
    rows.push_back({"below the axis", measurement.histogram.underflow, OffsetRowKind::beyond_axis});
  }

  result.width = unit;
  if (misses.size() < kMostOffsetRows) {
    add_recorded_bins(misses, hits, names, rows);
  } else {
    const std::int64_t width = even_width(std::min<std::int64_t>(misses.begin()->first, 0),
                                          std::max<std::int64_t>(misses.rbegin()->first, 0));
    const analysis::OffsetAxis axis{measurement.lowest_offset, measurement.highest_offset,
                                    width * unit};
    const Counts even = misses_of(histogram_of(measurement.basis.tally, axis), axis.width);
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
    rows.push_back({"above the axis", measurement.histogram.overflow, OffsetRowKind::beyond_axis});
  }
  return result;
}

std::string event_histograms(const Page& page, const EventGroup& event) {
  std::vector<Bars> all;
  std::size_t name_width = 0;
  std::size_t count_width = 0;
  for (const Column& column : event.columns) {
    if (column.measurement->samples.located() == 0) continue;
    all.push_back({&column, offset_rows(*column.measurement)});
    for (const OffsetRow& row : all.back().rows.rows) {
      name_width = std::max(name_width, display_width(row.name));
      count_width = std::max(count_width, fmt::formatted_size("{}", row.count));
    }
  }
  std::string text = page.title("Offsets from the trigger, in instructions (linear bars)");
  if (all.empty()) {
    return text + page.note("no sample has a distance from the trigger", Ink::dim);
  }
  for (const Bars& bars : all) text += histogram(page, bars, name_width, count_width);
  return text;
}

std::optional<OffsetRange> offset_range(const std::vector<const Measurement*>& runs) {
  std::optional<OffsetRange> range;
  for (const Measurement* run : runs) {
    for (const analysis::Bin& bin : run->histogram.bins) {
      if (bin.count == 0) continue;
      if (!range) range = {bin.lo, bin.hi - 1};
      range->low = std::min(range->low, bin.lo);
      range->high = std::max(range->high, bin.hi - 1);
    }
  }
  return range;
}

std::string offset_line(const Page& page, const std::vector<const Measurement*>& runs,
                        OffsetRange range, std::size_t bars) {
  const auto offsets = static_cast<std::uint64_t>(range.high - range.low) + 1;
  std::vector<std::uint64_t> counts(std::min<std::uint64_t>(bars, offsets));
  for (const Measurement* run : runs) {
    for (const analysis::Bin& bin : run->histogram.bins) {
      const auto from_low = static_cast<std::uint64_t>(bin.lo - range.low);
      counts[from_low * counts.size() / offsets] += bin.count;
    }
  }
  const std::uint64_t most = *std::max_element(counts.begin(), counts.end());
  static constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<const char*, 8> kSigns{".", ":", "-", "=", "+", "*", "#", "@"};
  std::string text;
  for (const std::uint64_t count : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(most);
    const auto height = static_cast<std::size_t>(std::lround(7 * share));
    text += count == 0 ? " " : (page.unicode ? kBlocks : kSigns).at(height);
  }
  return text;
}

}  // namespace skid::output
