#include "analysis/wording.h"
#include "src/output/escape.h"
#include "src/output/report/parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Bin;
using analysis::Measurement;
using analysis::SampleClass;

using Kind = ListColumn::Kind;

/// Measurements with more rows are shown as a line of bars.
constexpr std::size_t kMostOffsetRows = 22;

struct OffsetRow {
  std::string name;  ///< "hit", "+1", "+250 to +499"
  std::uint64_t count = 0;
  Ink ink = Ink::plain;
};

/// The offsets of a bin that the target has, without 0, which is the hits' own.
std::string offsets_of(const Bin& bin, const Measurement& measurement) {
  std::int64_t first = std::max(bin.lo, measurement.lowest_offset);
  const std::int64_t last = std::min(bin.hi - 1, measurement.highest_offset);
  if (first == 0) first = 1;
  if (first >= last) return analysis::signed_number(first);
  return fmt::format("{} to {}", analysis::signed_number(first), analysis::signed_number(last));
}

/// A row for each bin with samples that are no hits, and one for the hits, ascending.
std::vector<OffsetRow> rows_of(const Measurement& measurement) {
  const analysis::Histogram& histogram = measurement.histogram;
  std::vector<OffsetRow> rows;
  const auto add_beyond = [&rows](const char* name, std::uint64_t count) {
    if (count > 0) rows.push_back({name, count, Ink::yellow});
  };
  const OffsetRow hits{"hit", measurement.samples[SampleClass::hit], Ink::green};
  add_beyond("below the axis", histogram.underflow);
  bool has_hits = false;
  for (const Bin& bin : histogram.bins) {
    if (bin.lo >= 0 && !std::exchange(has_hits, true)) rows.push_back(hits);
    const std::uint64_t misses = bin.count - bin[SampleClass::hit];
    if (misses > 0) rows.push_back({offsets_of(bin, measurement), misses});
  }
  if (!has_hits) rows.push_back(hits);
  add_beyond("above the axis", histogram.overflow);
  return rows;
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

/// Rows of a list: level, offsets, samples, their share, and bars.
void add_rows(const Page& page, const Column& column, List& list) {
  constexpr std::size_t kLeadWidth = 48;  // what stands before the bars
  const std::size_t bar_width = page.width - kLeadWidth;
  const Measurement& measurement = *column.measurement;
  const std::uint64_t located = measurement.samples.located();
  const std::vector<OffsetRow> rows = rows_of(measurement);
  const auto range = offset_range({&measurement});
  const bool in_one_line = rows.size() > kMostOffsetRows && range;
  std::uint64_t most = in_one_line ? located : 0;
  for (const OffsetRow& row : rows) most = std::max(most, row.count);
  std::string label = column.label;
  const auto add = [&](const OffsetRow& row, const std::string& bars) {
    list.rows.push_back(
        {{std::exchange(label, ""), Ink::bold},
         {row.name, row.ink},
         {fmt::format("{}", row.count)},
         {analysis::percent(static_cast<double>(row.count) / static_cast<double>(located))},
         {bars, row.ink}});
  };
  if (in_one_line) {
    add({fmt::format("{} to {}", analysis::signed_number(range->low),
                     analysis::signed_number(range->high)),
         located},
        offset_line(page, {&measurement}, *range, bar_width));
  }
  for (const OffsetRow& row : rows) {
    const bool is_bin = row.ink == Ink::plain;
    if (!in_one_line || !is_bin) add(row, bar(page, row.count, most, bar_width));
  }
}

/// The samples of a column whose skids may be longer; empty without any.
std::string censored_note(const Page& page, const Column& column) {
  const Measurement& m = *column.measurement;
  const std::uint64_t censored = m.samples[SampleClass::censored];
  if (censored == 0 || !m.censored_from) return {};
  // Of several triggers that of the shortest runway, where others may go on.
  const std::string what = m.triggers.empty()
                               ? "censored, the skid may be longer"
                               : fmt::format("{} censored, their skid may be longer", censored);
  return page.note(fmt::format("{} from {} on: {}", column.label,
                               analysis::signed_number(*m.censored_from), what),
                   Ink::dim);
}

}  // namespace

std::string event_histograms(const Page& page, const EventGroup& event) {
  List list{{{"", Kind::shortened}, {"offset"}, {"samples"}, {"share"}, {"", Kind::text}}};
  std::string notes;
  for (const Column& column : event.columns) {
    if (column.measurement->samples.located() == 0) continue;
    add_rows(page, column, list);
    notes += censored_note(page, column);
  }
  const std::string title = page.title("Offsets from the trigger, in instructions (linear bars)");
  if (list.rows.empty()) {
    return title + page.note("no sample has a distance from the trigger", Ink::dim);
  }
  return title + page.list(list) + notes;
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
