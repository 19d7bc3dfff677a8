#include "analysis/wording.h"
#include "src/output/audit/audit.h"
#include "src/output/escape.h"
#include "src/output/report/parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::in_thousands;
using audit::Audit;
using audit::EventAudit;
using audit::FunctionFinding;
using audit::InstructionFinding;
using events::Verdict;

/// What fits one screen.
constexpr std::size_t kMostRows = 16;
constexpr std::size_t kMostPlaces = 5;
constexpr std::size_t kMostNotes = 5;

using Kind = ListColumn::Kind;

/// A finding and the event that it is of.
template <typename Finding>
using Found = std::vector<std::pair<const EventAudit*, const Finding*>>;

std::string event_name(const EventAudit& event) {
  return fmt::format("{}, {}", escape_for_terminal(event.event), level_name(event.level));
}

std::string kernel_text(const Audit& audit) {
  return audit.kernel.empty() ? "unknown" : escape_for_terminal(audit.kernel);
}

/// Escaped; names of C++ can be longer than any line.
std::string function_name(const std::string& function) {
  constexpr std::size_t kLongest = 90;
  return shorten(escape_for_terminal(function), kLongest);
}

/// The part of a path after its last '/', escaped.
std::string file_name(const std::string& path) {
  const auto slash = path.rfind('/');
  return escape_for_terminal(
      slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1));
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return kUnknown;
  return analysis::percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string verdicts_text(const EventAudit& event) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < event.verdicts.size(); ++i) {
    parts.push_back(fmt::format("{} {}", events::name_of(static_cast<Verdict>(i)),
                                in_thousands(event.verdicts[i])));
  }
  return list_of(parts);
}

/// Counts of samples by the reason why they are not judged.
std::string reasons(const Page& page, const std::vector<const EventAudit*>& events) {
  std::vector<std::pair<std::uint64_t, analysis::NotJudged>> counts;
  for (std::size_t i = 0; i < analysis::kNotJudged; ++i) {
    std::uint64_t count = 0;
    for (const EventAudit* event : events) count += event->not_judged[i];
    if (count > 0) counts.emplace_back(count, static_cast<analysis::NotJudged>(i));
  }
  using Row = decltype(counts)::value_type;
  if (counts.empty()) return {};
  return '\n' + page.list(columns_of<Row>(
                    counts,
                    {{{"not judged"}, [](const Row& row) { return Cell{in_thousands(row.first)}; }},
                     {{"reason", Kind::wrapped},
                      [](const Row& row) { return Cell{std::string(describe(row.second))}; }}}));
}

std::string functions(const Page& page, const Found<FunctionFinding>& found, bool with_event) {
  if (found.empty()) return {};
  using Row = Found<FunctionFinding>::value_type;
  std::vector<ColumnOf<Row>> columns{
      {{"impossible"}, [](const Row& row) { return Cell{in_thousands(row.second->impossible)}; }},
      {{"judged"}, [](const Row& row) { return Cell{in_thousands(row.second->judged)}; }},
      {{"share"},
       [](const Row& row) { return Cell{share_of(row.second->impossible, row.second->judged)}; }}};
  if (with_event) {
    columns.push_back(
        {{"event", Kind::shortened}, [](const Row& row) { return Cell{event_name(*row.first)}; }});
  }
  columns.push_back({{"function", Kind::wrapped}, [](const Row& row) {
                       const auto& [module, function, judged, impossible] = *row.second;
                       return Cell{fmt::format(
                           "{} ({})", function.empty() ? "no function" : function_name(function),
                           module.empty() ? "no file" : file_name(module))};
                     }});
  return page.title("Functions") + page.list(columns_of(found, std::move(columns)));
}

std::string place_of(const InstructionFinding& found) {
  std::string place = found.function.empty()
                          ? fmt::format("{:#x}", found.address)
                          : fmt::format("{}+{:#x}", function_name(found.function), found.offset);
  if (!found.module.empty()) place += " (" + file_name(found.module) + ")";
  if (!found.source_file.empty()) {
    place += fmt::format(" {}:{}", file_name(found.source_file), found.source_line);
  }
  return place;
}

std::string instruction_text(const InstructionFinding& found) {
  std::string text = escape_for_terminal(found.text);
  if (found.judged_address != found.address) {
    text = fmt::format("at {:#x}: {}", found.judged_address, text);
  }
  const std::string categories = instructions::names_of(found.categories);
  if (!categories.empty()) text += fmt::format("  [{}]", categories);
  if (found.verdict != Verdict::never) text += fmt::format("  {}", events::name_of(found.verdict));
  return text;
}

std::string instructions(const Page& page, const Found<InstructionFinding>& found,
                         bool with_event) {
  if (found.empty()) return {};
  ListColumn samples{"samples"};
  ListColumn shares{"share"};
  ListColumn events{"event", Kind::shortened};
  ListColumn places{"place", Kind::wrapped};
  bool has_others = false;
  for (const auto& [event, one] : found) {
    const bool is_impossible = one->verdict == Verdict::never;
    has_others = has_others || !is_impossible;
    samples.cells.push_back({in_thousands(one->samples)});
    shares.cells.push_back({share_of(one->samples, event->judged)});
    events.cells.push_back({event_name(*event)});
    places.cells.push_back({place_of(*one), is_impossible ? Ink::red : Ink::plain});
    // The instruction on a line of its own under its place.
    for (ListColumn* column : {&samples, &shares, &events}) column->cells.emplace_back();
    places.cells.push_back({instruction_text(*one), Ink::dim});
  }
  std::vector<ListColumn> columns{samples, shares};
  if (with_event) columns.push_back(events);
  columns.push_back(places);
  return page.title(has_others ? "Instructions, those that cannot cause the event first"
                               : "Instructions that cannot cause the event") +
         page.list(std::move(columns));
}

std::string left_out(const Page& page, std::size_t shown, std::size_t all, std::string_view what) {
  if (shown >= all) return {};
  return page.note(fmt::format("{} more {}: --top N, --min-share 0", all - shown, what), Ink::dim);
}

std::string event_details(const Audit& audit, const EventAudit& event, const Page& page) {
  std::string text =
      page.rule(event.event) + page.field("recording", escape_for_terminal(audit.file));
  const std::string requested =
      event.requested.empty() ? "" : ", requested as " + escape_for_terminal(event.requested);
  text += page.field("recorded", fmt::format("{}, level {}{}", escape_for_terminal(event.recorded),
                                             event.level, requested));
  const bool has_rule = event.rule != audit::Rule::none;
  if (has_rule) text += page.field("judged by", describe(event.rule));
  if (!event.catalogue.empty()) {
    text += page.field("catalogue", escape_for_terminal(event.catalogue));
  }
  if (has_rule) text += page.field("verdicts", verdicts_text(event));
  text += reasons(page, {&event});
  Found<FunctionFinding> of_functions;
  for (const FunctionFinding& function : event.functions) {
    if (function.impossible > 0) of_functions.emplace_back(&event, &function);
  }
  text += functions(page, of_functions, false) +
          left_out(page, of_functions.size(), event.impossible_functions, "functions");
  Found<InstructionFinding> of_instructions;
  std::size_t impossible = 0;
  for (const InstructionFinding& instruction : event.instructions) {
    of_instructions.emplace_back(&event, &instruction);
    if (instruction.verdict == Verdict::never) ++impossible;
  }
  return text + instructions(page, of_instructions, false) +
         left_out(page, impossible, event.impossible_instructions, "of them");
}

/// The findings with most impossible samples, of all events together.
template <typename Finding, typename CountOf>
Found<Finding> worst(Found<Finding> found, CountOf count_of) {
  std::stable_sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
    return count_of(*a.second) > count_of(*b.second);
  });
  if (found.size() > kMostPlaces) found.resize(kMostPlaces);
  return found;
}

/// The events of all recordings, of many those with most impossible samples.
std::string event_list(const std::vector<Audit>& audits, const Page& page) {
  std::vector<std::pair<const Audit*, const EventAudit*>> rows;
  for (const Audit& audit : audits) {
    for (const EventAudit& event : audit.events) rows.emplace_back(&audit, &event);
  }
  const std::size_t all = rows.size();
  if (all > kMostRows && !page.details) {
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.second->impossible.count > b.second->impossible.count;
    });
    rows.resize(kMostRows);
  }
  using Row = decltype(rows)::value_type;
  const auto is_judged = [](const Row& row) { return row.second->judged > 0; };
  const auto judged_cell = [&](const Row& row, std::string text) {
    const Ink ink = row.second->impossible.count > 0 ? Ink::red : Ink::green;
    return is_judged(row) ? Cell{std::move(text), ink} : Cell{kUnknown, Ink::dim};
  };
  std::string text =
      '\n' +
      page.list(columns_of<Row>(
          rows,
          {{{"event", Kind::shortened},
            [](const Row& row) { return Cell{escape_for_terminal(row.second->event)}; }},
           {{"level", Kind::text},
            [](const Row& row) { return Cell{level_name(row.second->level)}; }},
           {{"samples", Kind::number, 1},
            [](const Row& row) { return Cell{in_thousands(row.second->samples)}; }},
           {{"judged"}, [](const Row& row) { return Cell{in_thousands(row.second->judged)}; }},
           {{"impossible"},
            [&](const Row& row) {
              return judged_cell(row, in_thousands(row.second->impossible.count));
            }},
           {{"share"},
            [&](const Row& row) {
              return judged_cell(row, analysis::percent(row.second->impossible.value));
            }},
           {{"95% interval", Kind::number, 2},
            [&](const Row& row) {
              const analysis::Share& share = row.second->impossible;
              return is_judged(row) ? Cell{share_range(page, share.low, share.high)}
                                    : Cell{kUnknown, Ink::dim};
            }},
           {{"recording", Kind::front_shortened, 3}, [](const Row& row) {
              return Cell{escape_for_terminal(row.first->file), Ink::dim};
            }}}));
  if (rows.size() < all) {
    text +=
        page.note(fmt::format("{} more events, none of them worse", all - rows.size()), Ink::dim);
  }
  return text;
}

std::string notes(const std::vector<Audit>& audits, const Page& page) {
  std::vector<std::string> texts;
  std::set<std::string> known;
  const auto add = [&](std::string text) {
    if (known.insert(text).second) texts.push_back(std::move(text));
  };
  for (const Audit& audit : audits) {
    for (const std::string& remark : audit.remarks) add(remark);
    for (const EventAudit& event : audit.events) {
      for (const std::string& warning : event.warnings) add(warning);
    }
  }
  std::string text;
  const std::size_t most = page.details ? texts.size() : kMostNotes;
  for (std::size_t i = 0; i < texts.size() && i < most; ++i) {
    text += page.field("warning", escape_for_terminal(texts[i]), Ink::yellow);
  }
  if (texts.size() > most) {
    text += page.field("", fmt::format("{} more warnings", texts.size() - most));
  }
  return text.empty() ? text : '\n' + text;
}

std::string answer(const std::vector<const EventAudit*>& events, const Page& page) {
  std::uint64_t samples = 0, judged = 0, impossible = 0;
  for (const EventAudit* event : events) {
    samples += event->samples;
    judged += event->judged;
    impossible += event->impossible.count;
  }
  if (judged == 0) {
    return page.hanging("", 0,
                        fmt::format("none of {} samples could be judged", in_thousands(samples)),
                        Ink::yellow);
  }
  return page.hanging(
      "", 0,
      fmt::format("{} of {} judged samples ({}) are at instructions that cannot cause their event",
                  in_thousands(impossible), in_thousands(judged), share_of(impossible, judged)),
      impossible > 0 ? Ink::red : Ink::green);
}

}  // namespace

std::string audit_text(const std::vector<Audit>& audits, const Page& page) {
  std::vector<const EventAudit*> events;
  Found<FunctionFinding> of_functions;
  Found<InstructionFinding> of_instructions;
  std::vector<std::string> machines;
  bool is_synthetic = false;
  for (const Audit& audit : audits) {
    is_synthetic = is_synthetic || audit.synthetic;
    std::string machine =
        page.field("CPU", cpu_details(audit.cpu)) + page.field("kernel", kernel_text(audit));
    if (std::find(machines.begin(), machines.end(), machine) == machines.end()) {
      machines.push_back(std::move(machine));
    }
    for (const EventAudit& event : audit.events) {
      events.push_back(&event);
      for (const FunctionFinding& function : event.functions) {
        if (function.impossible > 0) of_functions.emplace_back(&event, &function);
      }
      for (const InstructionFinding& instruction : event.instructions) {
        if (instruction.verdict == Verdict::never) {
          of_instructions.emplace_back(&event, &instruction);
        }
      }
    }
  }
  std::string text = answer(events, page) + '\n';
  for (std::size_t i = 0; i < machines.size() && (i == 0 || page.details); ++i) text += machines[i];
  if (machines.size() > 1 && !page.details) {
    text += page.field(
        "", fmt::format("and {} more", analysis::counted(machines.size() - 1, "machine")));
  }
  if (is_synthetic) text += page.field("SYNTHETIC", kSyntheticText, Ink::yellow);
  text += event_list(audits, page);
  if (page.details) {
    for (const Audit& audit : audits) {
      for (const EventAudit& event : audit.events) text += event_details(audit, event, page);
    }
    return text + notes(audits, page);
  }
  text += reasons(page, events);
  const bool with_event = events.size() > 1;
  text += functions(
      page, worst(std::move(of_functions), [](const FunctionFinding& f) { return f.impossible; }),
      with_event);
  text += instructions(
      page,
      worst(std::move(of_instructions), [](const InstructionFinding& i) { return i.samples; }),
      with_event);
  return text + notes(audits, page) + '\n' +
         page.hanging("", 0,
                      "--details prints each event with its rule, verdicts, functions and "
                      "instructions",
                      Ink::dim);
}

}  // namespace skid::output
