#include "analysis/wording.h"
#include "src/output/escape.h"
#include "src/output/report/offset_rows.h"
#include "src/output/report/parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using analysis::SampleClass;

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
  switch (rows.binning) {
    case Binning::doubling:
      return "bins double in width";
    case Binning::even:
    case Binning::as_recorded:
      break;
  }
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
    const Ink ink = row.kind == RowKind::hit           ? Ink::green
                    : row.kind == RowKind::beyond_axis ? Ink::yellow
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
    return text + page.hanging(std::string(kIndent, ' '), kIndent,
                               "no sample has a distance from the trigger", Ink::dim);
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
