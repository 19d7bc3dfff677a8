#include "src/output/escape.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/report/report.h"
#include "src/output/table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using analysis::Verdict;

constexpr unsigned kNarrowestTerminal = 60;

std::string triggers(const Page& page, const EventGroup& event) {
  const std::string first = trigger_text(*event.columns.front().measurement);
  const bool same = std::all_of(
      event.columns.begin(), event.columns.end(),
      [&first](const Column& column) { return trigger_text(*column.measurement) == first; });
  if (same) return page.field("trigger", first);
  std::string text;
  for (const Column& column : event.columns) {
    text += page.field(text.empty() ? "trigger" : "",
                       column.label + ": " + trigger_text(*column.measurement));
  }
  return text;
}

/// Which event was asked for and which one the recording holds, a line a column.
std::string event_names(const Page& page, const EventGroup& event) {
  std::size_t label_width = 0;
  std::size_t requested_width = display_width("requested");
  const auto requested = [](const Measurement& m) {
    return m.event.requested ? escape_for_terminal(*m.event.requested) : "not known";
  };
  for (const Column& column : event.columns) {
    label_width = std::max(label_width, column.label.size());
    requested_width = std::max(requested_width, display_width(requested(*column.measurement)));
  }
  requested_width = std::min(requested_width, page.width * 2 / 5);

  const bool all_synthetic =
      std::all_of(event.columns.begin(), event.columns.end(),
                  [](const Column& column) { return column.measurement->synthetic; });
  constexpr std::size_t kMark = 4;  // columns between the two, which hold the mark of a swap
  const std::size_t lead = kIndent + label_width + kIndent;
  std::string text =
      '\n' + std::string(lead, ' ') +
      page.paint(pad_right("requested", requested_width + kMark) + "recorded", Ink::dim) + '\n';
  for (const Column& column : event.columns) {
    const Measurement& m = *column.measurement;
    std::string remarks;
    if (m.event.substituted) remarks += "  <- another event";
    if (m.read_in_part) remarks += "  (read in part)";
    if (m.synthetic && !all_synthetic) remarks += "  (synthetic)";
    const std::size_t used = lead + requested_width + kMark;
    const std::string recorded = shorten(escape_for_terminal(m.event.recorded),
                                         page.width > used ? page.width - used : kMark);
    const bool remarks_fit = used + display_width(recorded) + display_width(remarks) <= page.width;
    text += std::string(kIndent, ' ') + pad_right(column.label, label_width + kIndent) +
            pad_right(shorten(requested(m), requested_width), requested_width) +
            page.paint(m.event.substituted ? (page.unicode ? "  ≠ " : "  ! ") : "    ", Ink::red) +
            page.paint(recorded, m.event.substituted ? Ink::red : Ink::plain) +
            (remarks_fit ? "" : '\n' + std::string(lead, ' ')) + page.paint(remarks, Ink::yellow) +
            '\n';
  }
  return text;
}

std::size_t label_width_of(const EventGroup& event) {
  std::size_t width = 0;
  for (const Column& column : event.columns) width = std::max(width, column.label.size());
  return width;
}

std::string contracts(const Page& page, const EventGroup& event) {
  const std::size_t lead = kIndent + label_width_of(event) + kIndent;
  std::string text = page.title("Contract: the promise of the level and what came");
  for (const Column& column : event.columns) {
    const analysis::Contract& contract = column.measurement->contract;
    text +=
        std::string(kIndent, ' ') + pad_right(column.label, lead - kIndent) +
        page.paint(analysis::verdict_words(contract), ink_of(contract.verdict)) +
        page.paint(fmt::format("  (level {}: {})", contract.level, contract.promise), Ink::dim) +
        '\n';
    text += page.hanging(std::string(lead, ' '), lead, escape_for_terminal(contract.evidence));
  }
  return text;
}

/// The sampled addresses against those of a tracepoint, where one was recorded beside the event.
std::string ip_checks(const Page& page, const EventGroup& event) {
  const std::size_t label_width = label_width_of(event) + kIndent;
  std::string text;
  for (const Column& column : event.columns) {
    const auto& check = column.measurement->ip_check;
    if (!check) continue;
    if (text.empty()) {
      text = page.title(fmt::format("IP check: the sampled address and what {} tells of the fault",
                                    escape_for_terminal(check->tracepoint)));
    }
    const bool agree = check->agreeing == check->compared && check->compared > 0;
    text += std::string(kIndent, ' ') + pad_right(column.label, label_width) +
            page.paint(fmt::format("{} of {} agree", check->agreeing, check->compared),
                       agree ? Ink::green : Ink::red);
    if (check->unpaired > 0) {
      text += page.paint(fmt::format("  ({} not compared)", check->unpaired), Ink::dim);
    }
    text += '\n';
  }
  return text;
}

/// Lists of Measurement::recording_warnings that were shown.
using Shown = std::set<const std::vector<std::string>*>;

/// What concerns a recording as a whole is said once, with its first event.
std::string warnings(const Page& page, const EventGroup& event, Shown& shown) {
  const std::size_t lead = kIndent + label_width_of(event) + kIndent;
  std::string text;
  for (const Column& column : event.columns) {
    std::string label = column.label;
    const auto say = [&](const std::string& warning) {
      text += page.hanging(std::string(kIndent, ' ') + pad_right(label, lead - kIndent), lead,
                           escape_for_terminal(warning));
      label.clear();
    };
    for (const std::string& warning : column.measurement->warnings) say(warning);
    for (const std::string& warning : column.measurement->count_warnings) say(warning);
    const auto* of_recording = column.measurement->recording_warnings.get();
    if (of_recording == nullptr || !shown.insert(of_recording).second) continue;
    for (const std::string& warning : *of_recording) say(warning);
  }
  if (text.empty()) return text;
  return '\n' + page.paint("Warnings", Ink::yellow) + '\n' + text;
}

std::string event_block(const Page& page, const EventGroup& event, Shown& shown) {
  return page.rule(event.event) + triggers(page, event) + event_names(page, event) +
         event_table(page, event) + repeats_table(page, event) + event_histograms(page, event) +
         contracts(page, event) + ip_checks(page, event) + warnings(page, event, shown);
}

Cell summary_cell(const EventGroup& event, int level) {
  std::array<unsigned, 4> counts{};
  unsigned sum = 0;
  for (const Column& column : event.columns) {
    if (column.level != level) continue;
    ++counts[static_cast<std::size_t>(column.measurement->contract.verdict)];
    ++sum;
  }
  if (sum == 0) return {kUnknown, Ink::dim};
  // Worst first, and that colours the cell.
  std::string text;
  std::optional<Ink> ink;
  for (const Verdict verdict :
       {Verdict::broken, Verdict::undecided, Verdict::kept, Verdict::not_judged}) {
    const unsigned count = counts[static_cast<std::size_t>(verdict)];
    if (count == 0) continue;
    if (!text.empty()) text += ", ";
    text += sum == 1 || count == sum ? std::string(analysis::name_of(verdict))
                                     : fmt::format("{} {}", count, analysis::name_of(verdict));
    if (!ink) ink = ink_of(verdict);
  }
  return {text, *ink};
}

std::string summary(const Page& page, const MachineGroup& machine) {
  std::set<int> levels;
  for (const EventGroup& event : machine.events) {
    for (const Column& column : event.columns) levels.insert(column.level);
  }
  Table table;
  for (const int level : levels) table.header.push_back({level_name(level), Ink::bold});
  for (const EventGroup& event : machine.events) {
    Row row{shorten("  " + escape_for_terminal(event.event), page.width / 3), {}};
    for (const int level : levels) row.cells.push_back(summary_cell(event, level));
    table.rows.push_back(std::move(row));
  }
  return page.title("Summary: was the promise of the level kept?") +
         render(table, page.width, page.color);
}

}  // namespace

Ink ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kept:
      return Ink::green;
    case Verdict::broken:
      return Ink::red;
    case Verdict::undecided:
      return Ink::yellow;
    case Verdict::not_judged:
      return Ink::dim;
  }
  return Ink::plain;
}

std::string trigger_text(const Measurement& measurement) {
  if (!measurement.trigger) return "unknown: nobody said where it is";
  const analysis::Trigger& trigger = *measurement.trigger;
  std::string text =
      fmt::format("{} at 0x{:x}", escape_for_terminal(trigger.kind), trigger.address);
  if (!measurement.triggers.empty()) {
    text += fmt::format(", the first of {}", measurement.triggers.size());
  }
  if (!trigger.symbol.empty()) text += fmt::format(" ({})", escape_for_terminal(trigger.symbol));
  return text;
}

std::string report_text(const std::vector<Measurement>& measurements, const TextStyle& style) {
  if (measurements.empty()) return "no measurements\n";
  const Page page{style.color, style.unicode, std::max(style.width, kNarrowestTerminal)};
  std::string text;
  Shown shown;
  for (const MachineGroup& machine : group(measurements)) {
    if (!text.empty()) text += '\n';
    text += machine_header(page, machine);
    for (const EventGroup& event : machine.events) text += event_block(page, event, shown);
    if (machine.events.size() > 1) text += summary(page, machine);
  }
  return text;
}

}  // namespace skid::output
