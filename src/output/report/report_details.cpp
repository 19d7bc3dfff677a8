// The tables and histograms of an event, and the machine that it was recorded on.
#include "analysis/basis.h"
#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/histogram.h"
#include "analysis/measurement.h"
#include "analysis/recording_path.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "analysis/wording.h"
#include "src/machine/cpu_identity.h"
#include "src/output/cell.h"
#include "src/output/html/document.h"
#include "src/output/name_list.h"
#include "src/output/number_text.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/report/machine_text.h"
#include "src/output/report/offset_line.h"
#include "src/output/report/parts.h"
#include "src/output/report/sample_origin.h"
#include "src/output/table.h"
#include "src/support/escape.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using Kind = ListColumn::Kind;

/// Names the trigger: "load at 0x401000 (skid_trigger)". Escaped.
std::string trigger_text(const Measurement& measurement) {
  if (!measurement.trigger) return "unknown; pass --hit FUNCTION --runway FUNCTION";
  const analysis::Trigger& trigger = *measurement.trigger;
  std::string text =
      fmt::format("{} at 0x{:x}", escape_for_terminal(trigger.kind), trigger.address);
  if (!measurement.triggers.empty()) {
    text += fmt::format(", the first of {}", measurement.triggers.size());
  }
  if (!trigger.symbol.empty()) text += fmt::format(" ({})", escape_for_terminal(trigger.symbol));
  return text;
}

std::string triggers(const Page& page, const EventGroup& event) {
  const std::string first = trigger_text(*event.columns.front().measurement);
  const bool same = std::ranges::all_of(event.columns, [&first](const Column& column) {
    return trigger_text(*column.measurement) == first;
  });
  if (same) return page.field("trigger", first);
  std::string text;
  for (const Column& column : event.columns) {
    text += page.field(text.empty() ? "trigger" : "",
                       column.label + ": " + trigger_text(*column.measurement));
  }
  return text;
}

/// Lists which event was requested and which one was recorded, a line per column.
std::string event_names(const Page& page, const EventGroup& event) {
  const bool all_synthetic = std::ranges::all_of(
      event.columns, [](const Column& column) { return column.measurement->synthetic; });
  List list{{{"", Kind::text},
             {"requested", Kind::shortened},
             {"", Kind::text},
             {"recorded", Kind::shortened},
             {"", Kind::text}}};
  for (const Column& column : event.columns) {
    const Measurement& m = *column.measurement;
    const bool substituted = m.event.substituted;
    std::vector<std::string> words;
    if (substituted) words.emplace_back("<- another event");
    if (m.read_in_part) words.emplace_back("(read in part)");
    if (m.synthetic && !all_synthetic) words.emplace_back("(synthetic)");
    list.add(column.label, escape_for_terminal(m.event.requested.value_or("not known")),
             Cell{!substituted   ? ""
                  : page.unicode ? "≠"
                                 : "!",
                  Ink::red},
             Cell{escape_for_terminal(m.event.recorded), substituted ? Ink::red : Ink::plain},
             Cell{joined(words, " "), Ink::yellow});
  }
  return '\n' + page.list(list);
}

/// Lists the sampling modes, each once; empty if all samples were taken with a fixed period only.
std::string paths_text(const MachineGroup& machine) {
  std::vector<std::string> paths;
  bool only_period = true;
  for (const EventGroup& event : machine.events) {
    for (const Column& column : event.columns) {
      const auto& path = column.measurement->path;
      if (!path) continue;
      only_period = only_period && *path == analysis::RecordingPath{};
      paths.push_back(analysis::describe(*path));
    }
  }
  return only_period ? std::string() : joined(each_once(paths), "; ");
}

/// The maximum number of rows of a measurement; more are shown as one line of bars.
constexpr std::size_t kMostOffsetRows = 22;

struct OffsetRow {
  std::string name;  ///< "hit", "+1", "+250 to +499"
  std::uint64_t count = 0;
  Ink ink = Ink::plain;
};

/// Names the offsets of a bin that exist in the target, without 0: hits have a row of their own.
std::string offsets_of(const analysis::Bin& bin, const Measurement& measurement) {
  std::int64_t first = std::max(bin.lo, measurement.lowest_offset);
  const std::int64_t last = std::min(bin.hi - 1, measurement.highest_offset);
  if (first == 0) first = 1;
  if (first >= last) return analysis::signed_number(first);
  return fmt::format("{} to {}", analysis::signed_number(first), analysis::signed_number(last));
}

/// Returns a row for each bin with samples that are not hits, and one for the hits, ascending.
std::vector<OffsetRow> rows_of(const Measurement& measurement,
                               const analysis::Histogram& histogram) {
  std::vector<OffsetRow> rows;
  const auto add_beyond = [&rows](const char* name, std::uint64_t count) {
    if (count > 0) rows.push_back({name, count, Ink::yellow});
  };
  const OffsetRow hits{"hit", measurement.samples[analysis::SampleClass::hit], Ink::green};
  add_beyond("below the axis", histogram.underflow);
  bool has_hits = false;
  for (const analysis::Bin& bin : histogram.bins) {
    if (bin.lo >= 0 && !std::exchange(has_hits, true)) rows.push_back(hits);
    const std::uint64_t misses = bin.count - bin[analysis::SampleClass::hit];
    if (misses > 0) rows.push_back({offsets_of(bin, measurement), misses});
  }
  if (!has_hits) rows.push_back(hits);
  add_beyond("above the axis", histogram.overflow);
  return rows;
}

/// Makes the bins wide enough for a page to list them: at most 64.
analysis::Histogram wide_bins(const Measurement& measurement, OffsetRange range) {
  constexpr std::int64_t kMostBins = 64;
  analysis::OffsetAxis axis{range.low, range.high, measurement.bin_width};
  while ((range.high - range.low) / axis.width >= kMostBins) axis.width *= 2;
  return analysis::histogram_of(measurement.basis.tally, axis);
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

/// Adds the rows of a column to a list: level, offsets, samples, their share, and bars.
void add_rows(const Page& page, const Column& column, List& list) {
  constexpr std::size_t kLeadWidth = 48;  // width of the text before the bars
  const std::size_t bar_width = page.width - kLeadWidth;
  const Measurement& measurement = *column.measurement;
  const std::uint64_t located = measurement.samples.located();
  std::vector<OffsetRow> rows = rows_of(measurement, measurement.histogram);
  const auto range = offset_range({&measurement});
  const bool has_many = rows.size() > kMostOffsetRows && range;
  const bool in_one_line = has_many && !page.html;
  if (has_many && page.html) rows = rows_of(measurement, wide_bins(measurement, *range));
  std::uint64_t most = in_one_line ? located : 0;
  for (const OffsetRow& row : rows) most = std::max(most, row.count);
  std::string label = column.label;
  const auto add = [&](const OffsetRow& row, const std::string& bars) {
    list.add(Cell{std::exchange(label, ""), Ink::bold}, Cell{row.name, row.ink},
             fmt::format("{}", row.count), percent_of(row.count, located), Cell{bars, row.ink});
  };
  if (has_many) {
    add({fmt::format("{} to {}", analysis::signed_number(range->low),
                     analysis::signed_number(range->high)),
         located},
        in_one_line ? offset_line(page, {&measurement}, *range, bar_width) : "");
  }
  for (const OffsetRow& row : rows) {
    const bool is_bin = row.ink == Ink::plain;
    if (!in_one_line || !is_bin) add(row, bar(page, row.count, most, bar_width));
  }
}

/// Notes how many samples of a column are censored; empty if none is.
std::string censored_note(const Page& page, const Column& column) {
  const Measurement& m = *column.measurement;
  const std::uint64_t censored = m.samples[analysis::SampleClass::censored];
  if (censored == 0 || !m.censored_from) return {};
  // With several triggers censored_from is that of the shortest runway; others may be longer.
  const std::string what = m.triggers.empty()
                               ? "censored, the skid may be longer"
                               : fmt::format("{} censored, their skid may be longer", censored);
  return page.note(fmt::format("{} from {} on: {}", column.label,
                               analysis::signed_number(*m.censored_from), what));
}

/// Returns the figures of an event for a page, with `offsets`, the values of its histogram.
std::string figures(const Page& page, MachineGroup machine, const EventGroup& event,
                    const std::string& offsets) {
  machine.events = {event};
  const bool has_triggers = std::ranges::any_of(event.columns, [](const Column& column) {
    return analysis::has_trigger_distances(*column.measurement);
  });
  return (has_triggers ? page.figure("bias", &machine) : "") + page.figure("histogram", &machine) +
         html::folded("The values of the histogram", offsets) + page.figure("breakdown", &machine);
}

}  // namespace

std::string machine_header(const Page& page, const MachineGroup& machine) {
  std::string cpu = cpu_details(machine.cpu, cpu_name(machine.cpu));
  if (machine.cpu.hypervisor) cpu += ", under " + escape_for_terminal(*machine.cpu.hypervisor);
  std::string kernel = machine.kernel.empty() ? "unknown" : escape_for_terminal(machine.kernel);
  std::string text;
  if (machine.sources.size() == 1) {
    const Source& source = machine.sources.front();
    kernel +=
        fmt::format("; {} {}", source.is_run ? "run" : "file", escape_for_terminal(source.name));
  } else {
    text = page.field("inputs", list_of(texts_of(machine.sources,
                                                 [](const Source& source) {
                                                   return source.letter + ' ' +
                                                          escape_for_terminal(source.name);
                                                 }),
                                        page.details ? machine.sources.size() : 8));
  }
  text = page.field("CPU", cpu) + page.field("kernel", kernel) + text;
  const std::string paths = paths_text(machine);
  if (!paths.empty()) text += page.field("mode", paths + "; verdicts are of this sampling mode");
  return text + origin_field(page, origin_of(machine));
}

std::string event_details(const Page& page, const MachineGroup& machine, const EventGroup& event,
                          const std::string& of) {
  std::string text = page.rule(event.event + of) + triggers(page, event) + event_names(page, event);
  const std::string offsets = event_histograms(page, event);
  if (page.html) text += figures(page, machine, event, offsets);
  text += '\n' + page.table(event_numbers(event, page));
  if (const auto repeats = repeats_numbers(event, page)) {
    text +=
        page.title("Over runs: means of their values, intervals over runs") + page.table(*repeats);
  }
  return page.html ? text : text + offsets;
}

std::string event_histograms(const Page& page, const EventGroup& event) {
  List list{{{"", Kind::shortened}, {"offset"}, {"samples"}, {"share"}, {"", Kind::text}}};
  std::string notes;
  for (const Column& column : event.columns) {
    if (column.measurement->samples.located() == 0) continue;
    add_rows(page, column, list);
    notes += censored_note(page, column);
  }
  const std::string title = page.title("Offsets from the trigger, in instructions (linear bars)");
  if (list.rows.empty()) return title + page.note("no sample has a distance from the trigger");
  return title + page.list(list) + notes;
}

}  // namespace skid::output
