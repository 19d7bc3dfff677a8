#include "analysis/comparison.h"
#include "analysis/contract.h"
#include "analysis/measurement.h"
#include "analysis/wording.h"
#include "src/machine/machine.h"
#include "src/output/cell.h"
#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_parts.h"
#include "src/output/name_list.h"
#include "src/output/number_text.h"
#include "src/output/padding.h"
#include "src/output/page.h"
#include "src/output/report/event_levels.h"
#include "src/output/report/evidence.h"
#include "src/output/report/grouping.h"
#include "src/output/report/machine_text.h"
#include "src/output/report/sample_origin.h"
#include "src/output/table.h"
#include "src/support/command_text.h"
#include "src/support/escape.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Side;
using analysis::Statistic;

/// The most lines and notes that one screen has room for.
constexpr std::size_t kMostLines = 28;
constexpr std::size_t kMostNotes = 5;

/// Formats p after Holm's correction: "p = 0.012", "p <= 1e-04".
std::string p_text(const analysis::StatisticDifference& difference) {
  const double p = difference.adjusted_p.value_or(1);
  const char* const relation = difference.p_is_bound ? "<=" : "=";
  if (p < 1e-300) return "p < 1e-300";
  if (p < 0.001) return fmt::format("p {} {:.0e}", relation, p);
  return fmt::format("p {} {:.2g}", relation, p);
}

/// Names an event and its level: "access, pp". Escaped.
std::string row_name(const ComparisonRow& row) {
  return escape_for_terminal(row.event) + ", " + level_name(row.level);
}

struct ComparisonText {
  const Comparison& comparison;
  const std::vector<std::string>& inputs;
  const Page& page;
  const EventPairs& alike;

  std::string one_screen() const {
    const analysis::ComparisonChoices& choices = comparison.choices;
    const std::string text = answer() + '\n' + head() + '\n' + list() +
                             page.section("Not in all runs", missing(), Ink::plain, kMostNotes) +
                             page.section("Caveats", remarks(), Ink::plain, kMostNotes);
    if (!analysis::compares_anything(comparison)) return text;
    return text + '\n' +
           page.paragraph(
               fmt::format("Differences are more than chance (5%, Holm's procedure over {}) and "
                           "more than {} points or {} instructions.{} --details prints each with "
                           "its interval; --plot FILE draws them, --html FILE writes a page",
                           analysis::counted(comparison.tests, "test"),
                           number_text(choices.least_share * 100),
                           number_text(choices.least_instructions),
                           compared().first ? " Samples were compared; record --repeat 3 or more "
                                              "for a comparison over runs."
                                            : ""),
               Ink::dim);
  }

  std::string details() const {
    std::string text = head();
    if (page.html) text = answer() + text + list() + page.figure("forest", nullptr);
    const auto& rows = comparison.rows;
    for (auto row = rows.begin(); row != rows.end();) {
      const auto end = std::find_if(
          row, rows.end(), [&](const ComparisonRow& other) { return other.event != row->event; });
      text += table(row, end);
      row = end;
    }
    if (!page.html) text += hits_by_address();
    const bool compares = analysis::compares_anything(comparison);
    if (compares) text += differences();
    text += page.section("Too few to decide", too_few());
    text += page.section("Not in all runs", missing()) + page.section("Caveats", remarks());
    return compares ? text + page.title("Method") + page.note(method()) : text;
  }

  std::string baseline() const { return letter_of(comparison.baseline); }
  bool is_many() const { return comparison.sides.size() > kMostSideBySide; }
  std::string name_of_side(std::size_t side) const { return side_text(comparison, inputs, side); }

  std::string names_of_inputs(const std::vector<std::size_t>& numbers) const {
    return list_of(
        texts_of(numbers, [&](std::size_t input) { return escape_for_terminal(inputs[input]); }));
  }

  /// Counts the comparisons by outcome, and names those that are worse.
  std::string answer() const {
    std::map<Outcome, std::size_t> outcomes;
    EventLevels worse;
    bool is_worse = false;
    std::size_t with_baseline = 0, missing = 0;
    for (const ComparisonRow& row : comparison.rows) {
      missing += row.missing.size();
      for (const ComparisonCell& cell : row.cells) {
        if (cell.outcome == Outcome::baseline) continue;
        ++outcomes[cell.outcome];
        if (cell.outcome != Outcome::only_here) ++with_baseline;
        if (cell.outcome != Outcome::worse) continue;
        is_worse = true;
        worse.add(row.event,
                  level_name(row.level) +
                      (comparison.sides.size() > 2 ? " " + name_of_side(cell.side) : ""));
      }
    }
    std::vector<std::string> parts;
    for (const ShownOutcome& shown : kOutcomes) {
      const std::size_t count = outcomes[shown.outcome];
      if (count > 0 && !shown.counted.empty()) {
        parts.push_back(fmt::format("{} {}", count, shown.counted));
      }
    }
    std::string text = "nothing to compare: no event and level is in the baseline and another run" +
                       what_to_compare();
    if (with_baseline > 0) {
      text = fmt::format("{} with {} (baseline): {}",
                         analysis::counted(with_baseline, "comparison"), baseline(), joined(parts));
    }
    if (missing > 0) text += fmt::format("; {} only in the baseline", missing);
    if (outcomes[Outcome::only_here] > 0) {
      text += fmt::format("; {} without a baseline", outcomes[Outcome::only_here]);
    }
    if (is_worse) text += "; worse: " + worse.text();
    const Ink ink = is_worse ? Ink::red
                    : missing > 0 || with_baseline == 0 || outcomes[Outcome::not_compared] > 0
                        ? Ink::yellow
                        : Ink::green;
    return page.answer(text, ink);
  }

  /// Returns the options that compare events which count the same under other names.
  std::string pairs_to_compare() const {
    constexpr std::size_t kMostPairs = 4;
    std::vector<std::string> options;
    for (const auto& [one, other] : alike) {
      if (options.size() < kMostPairs) {
        options.push_back(command_text({"--pair", fmt::format("{}={}", one, other)}));
      }
    }
    return fmt::format("{} compares events that count the same", fmt::join(options, " "));
  }

  /// Returns what would be compared where nothing is, as the end of a sentence.
  std::string what_to_compare() const {
    if (!alike.empty()) return "; " + pairs_to_compare();
    const bool has_others_level = std::ranges::any_of(comparison.rows, [this](const auto& row) {
      return row.in_baseline && std::ranges::any_of(comparison.rows, [&](const auto& other) {
               return !other.in_baseline && other.event == row.event;
             });
    });
    return has_others_level
               ? "; record the same levels (record -p)"
               : "; record the same events, or name two that count the same with --pair A=B";
  }

  /// Says what the hit ratio of IBS and SPE is; empty where none is shown.
  std::string hits_by_address() const {
    std::set<std::size_t> sides;
    for (const ComparisonRow& row : comparison.rows) {
      for (const ComparisonCell& cell : row.cells) {
        if (analysis::is_judged_by_address(cell.runs.front()->basis)) sides.insert(cell.side);
      }
    }
    if (sides.empty()) return {};
    return page.note(fmt::format("hit ratio of IBS and SPE, in {}: {}",
                                 list_of(texts_of(sides, letter_of)), kHitsByAddress));
  }

  std::string side_lines(std::size_t number, bool same_machine) const {
    const Side& side = comparison.sides[number];
    const std::string names = names_of_inputs(side.inputs);
    const bool same_run =
        number > 0 && names == names_of_inputs(comparison.sides[number - 1].inputs);
    return page.field(letter_of(number),
                      names + (number == comparison.baseline ? " (baseline)" : "")) +
           page.field("", (same_run       ? "the same run"
                           : same_machine ? "the same machine"
                                          : machine_text(side)) +
                              "; " + analysis::counted(side.measurements, "measurement"));
  }

  std::string head() const {
    const std::vector<Side>& sides = comparison.sides;
    std::string text;
    if (is_many()) {
      text = side_lines(comparison.baseline, false) + machines();
    } else {
      for (std::size_t i = 0; i < sides.size(); ++i) {
        text += side_lines(i, i > 0 && machine_text(sides[i]) == machine_text(sides[i - 1]));
      }
    }
    for (const SampleOrigin origin : kOtherOrigins) {
      std::vector<std::string> letters;
      for (std::size_t i = 0; i < sides.size(); ++i) {
        if (origin_of(sides[i]) == origin) letters.push_back(letter_of(i));
      }
      if (letters.empty()) continue;
      text += origin_field(page, origin,
                           is_many() ? fmt::format("{} of {} runs", letters.size(), sides.size())
                                     : list_of(letters));
    }
    return text;
  }

  /// Counts the sides of each kind of machine.
  std::string machines() const {
    using Counted = std::pair<std::string, std::size_t>;
    std::vector<Counted> machines;  // in order of first appearance
    for (const Side& side : comparison.sides) {
      ++find_or_add(machines, &Counted::first, {machine_text(side), 0}).second;
    }
    std::string text =
        page.field("runs", fmt::format("{}, on {} of machine", comparison.sides.size(),
                                       analysis::counted(machines.size(), "kind")));
    const std::size_t most = page.details ? kMostTold : 3;
    for (std::size_t i = 0; i < machines.size() && i < most; ++i) {
      text += page.field("", fmt::format("{}: {}", machines[i].second, machines[i].first));
    }
    if (machines.size() > most) {
      text += page.field("", fmt::format("and {} other kinds", machines.size() - most));
    }
    return text;
  }

  /// Lists all cells if they fit. Else it lists the baseline and the worst cells of each level that
  /// has a difference, then other levels as far as there is room, and names those without.
  std::string list() const {
    const std::vector<ComparisonRow>& rows = comparison.rows;
    std::size_t lines = 0;
    for (const ComparisonRow& row : rows) lines += row.cells.size();
    const bool all_fit = lines <= kMostLines || (page.html && !is_many());
    std::vector<ShownRow> shown;
    std::size_t shown_lines = 0;
    for (const ComparisonRow& row : rows) {
      ShownRow& one = shown.emplace_back(ShownRow{&row, all_fit ? all_of(row) : worst_of(row)});
      if (!all_fit && shown_lines + one.cells.size() > kMostLines) one.cells.clear();
      shown_lines += one.cells.size();
    }
    EventLevels unlisted;
    for (ShownRow& one : shown) {
      if (!one.cells.empty() || !by_severity(*one.row).empty() || !is_compared(*one.row)) continue;
      const auto cells = is_many() ? with_baseline(*one.row, {}) : all_of(*one.row);
      if (shown_lines + cells.size() > kMostLines) {
        unlisted.add(one.row->event, level_name(one.row->level));
      } else {
        one.cells = cells;
        shown_lines += cells.size();
      }
    }
    std::erase_if(shown, [](const ShownRow& row) { return row.cells.empty(); });
    std::string text;
    if (!shown.empty()) text = side_list(page, comparison, inputs, shown, true);
    if (shown_lines < lines && !page.html) {
      text += page.note(fmt::format("{} of {} lines are not shown; --details or --format csv",
                                    lines - shown_lines, lines));
    }
    const std::string names = unlisted.text(rows.size());
    if (!names.empty()) text += page.note("not shown, as no difference was found: " + names);
    return text + hits_by_address();
  }

  /// Whether some cell of a row could be compared with the baseline, or has too few samples for it.
  static bool is_compared(const ComparisonRow& row) {
    return std::ranges::any_of(row.cells, [](const ComparisonCell& cell) {
      return cell.outcome != Outcome::baseline && cell.outcome != Outcome::only_here;
    });
  }

  /// Returns the baseline's cell of a row, if it has one, before others.
  std::vector<const ComparisonCell*> with_baseline(const ComparisonRow& row,
                                                   std::vector<const ComparisonCell*> cells) const {
    const ComparisonCell* of_baseline = row.cell_of(comparison.baseline);
    if (of_baseline != nullptr) cells.insert(cells.begin(), of_baseline);
    return cells;
  }

  /// Returns the baseline and the worst cells of a row, as many as each row can have on a screen;
  /// empty without a difference.
  std::vector<const ComparisonCell*> worst_of(const ComparisonRow& row) const {
    std::vector<const ComparisonCell*> worst = by_severity(row);
    if (worst.empty()) return worst;
    const std::size_t of_each = std::max<std::size_t>(kMostLines / comparison.rows.size(), 2);
    worst.resize(std::min(worst.size(), of_each - 1));
    return with_baseline(row, std::move(worst));
  }

  std::string table(RowIterator begin, RowIterator end) const {
    std::string text = page.rule(begin->event);
    if (!is_many()) return text + page.table(comparison_numbers(comparison, begin, end, page));
    for (auto row = begin; row != end; ++row) text += level_of_many(*row);
    return text;
  }

  /// Lists the baseline, the first cells of by_severity(), and the range of all cells.
  std::string level_of_many(const ComparisonRow& row) const {
    std::vector<const ComparisonCell*> shown = by_severity(row);
    const std::size_t differ = shown.size();
    shown.resize(std::min(differ, kMostTold));
    shown = with_baseline(row, std::move(shown));
    if (!row.in_baseline) {
      // Without a baseline there is nothing to compare with; the first cells are shown.
      for (const ComparisonCell& cell : row.cells) {
        if (shown.size() < kMostTold) shown.push_back(&cell);
      }
    }
    std::string text = page.paint(level_name(row.level), Ink::bold) + '\n' +
                       side_list(page, comparison, inputs, {{&row, shown}}, false);
    return text +
           page.left_out(differ - std::min(differ, kMostTold),
                         " differ; --format csv has all of them", kIndent) +
           summary_of_sides(page, comparison, row);
  }

  static std::vector<const ComparisonCell*> all_of(const ComparisonRow& row) {
    std::vector<const ComparisonCell*> cells;
    for (const ComparisonCell& cell : row.cells) cells.push_back(&cell);
    return cells;
  }

  /// Calls `function` for each cell that is not the baseline's.
  template <typename Function>
  void each_cell(Function function) const {
    for (const ComparisonRow& row : comparison.rows) {
      for (const ComparisonCell& cell : row.cells) {
        if (cell.outcome != Outcome::baseline) function(row, cell);
      }
    }
  }

  std::string difference_line(const analysis::StatisticDifference& difference,
                              const ComparisonCell& cell) const {
    std::string text;
    if (difference.statistic == Statistic::distribution) {
      text = fmt::format("differs in {} of the samples, by {} instructions on average ({})",
                         analysis::percent(cell.distances->total_variation),
                         number_text(cell.distances->wasserstein), p_text(difference));
    } else {
      const auto end = [&](const std::optional<double>& value) {
        return value ? signed_text(difference.statistic, *value, false) : std::string("?");
      };
      text = fmt::format("{} -> {}: {} ({} to {}, {})",
                         value_text(difference.statistic, difference.baseline),
                         value_text(difference.statistic, difference.here),
                         signed_text(difference.statistic, difference.difference, true),
                         end(difference.low), end(difference.high), p_text(difference));
    }
    return named_line(difference.statistic == Statistic::constant_share
                          ? "same offset"
                          : name_of(difference.statistic),
                      text);
  }

  std::string named_line(std::string_view name, std::string_view text) const {
    constexpr std::size_t kNameWidth = 14;
    const std::string lead = std::string(2 * kIndent, ' ') + pad_right(name, kNameWidth);
    return page.hanging(page.paint(lead, Ink::plain), 2 * kIndent + kNameWidth, text);
  }

  std::string difference_text(const ComparisonRow& row, const ComparisonCell& cell) const {
    std::string text =
        page.note(fmt::format("{}: {} against {}: {}", row_name(row), name_of_side(cell.side),
                              baseline(), name_of(cell.outcome)),
                  ink_of(cell.outcome), kIndent);
    for (const analysis::StatisticDifference& difference : cell.differences) {
      if (difference.marked) text += difference_line(difference, cell);
    }
    if (cell.contract_broke || cell.contract_fixed) {
      text += named_line("contract", cell.contract_broke ? "kept -> broken" : "broken -> kept");
    }
    return text;
  }

  static bool is_reported(const ComparisonCell& cell) {
    return cell.contract_broke || cell.contract_fixed ||
           std::ranges::any_of(cell.differences,
                               [](const auto& difference) { return difference.marked; });
  }

  std::string differences() const {
    std::string text;
    for (const ComparisonRow& row : comparison.rows) {
      std::vector<const ComparisonCell*> cells = is_many() ? by_severity(row) : all_of(row);
      std::erase_if(cells, [](const ComparisonCell* cell) { return !is_reported(*cell); });
      const std::size_t shown = is_many() ? std::min(cells.size(), kMostTold) : cells.size();
      for (std::size_t i = 0; i < shown; ++i) text += difference_text(row, *cells[i]);
      if (shown < cells.size()) {
        text += page.note(fmt::format("{}: {} more; --format csv has all of them", row_name(row),
                                      cells.size() - shown),
                          Ink::plain, kIndent);
      }
    }
    if (text.empty()) {
      text = page.note("nothing is marked: no difference is more than chance and large enough");
    }
    return page.title(fmt::format("Differences from {}", baseline())) + text;
  }

  /// Lists the differences that are possible within the intervals, where no difference was shown.
  std::vector<std::string> too_few() const {
    std::vector<std::string> notes;
    if (is_many()) {
      for (const ComparisonRow& row : comparison.rows) {
        std::vector<std::string> sides;
        for (const ComparisonCell& cell : row.cells) {
          if (cell.outcome == Outcome::too_few) sides.push_back(name_of_side(cell.side));
        }
        if (!sides.empty()) notes.push_back(row_name(row) + ": " + list_of(sides));
      }
      return notes;
    }
    each_cell([&](const ComparisonRow& row, const ComparisonCell& cell) {
      if (cell.outcome != Outcome::too_few || cell.differences.empty()) return;
      std::vector<std::string> parts;
      for (const analysis::StatisticDifference& difference : cell.differences) {
        const bool has_interval =
            difference.statistic == Statistic::mean ||
            (difference.statistic == Statistic::hit_ratio && difference.p.has_value());
        if (!has_interval || !difference.low || !difference.high) continue;
        const double half = (*difference.high - *difference.low) / 2;
        if (half == 0) continue;
        parts.push_back(is_share(difference.statistic)
                            ? fmt::format("of the hit ratio below {:.2g} points", half * 100)
                            : fmt::format("of the mean below {:.2g} instructions", half));
      }
      notes.push_back(fmt::format("{}: {}: too few {}{}", row_name(row), letter_of(cell.side),
                                  cell.over_runs ? "runs" : "samples",
                                  parts.empty() ? std::string(" for any interval")
                                                : fmt::format("; a difference {} would not show",
                                                              fmt::join(parts, ", or "))));
    });
    return notes;
  }

  /// Lists inputs without measurements, and rows that some sides do not have. Levels of one event
  /// that the same sides do not have are in one note.
  std::vector<std::string> missing() const {
    std::vector<std::pair<std::string, std::string>> lines;  // event and levels; which sides
    const ComparisonRow* last = nullptr;
    for (const ComparisonRow& row : comparison.rows) {
      if (row.in_baseline && row.missing.empty()) continue;
      std::vector<std::string> sides;
      for (const std::size_t side : row.missing) sides.push_back(name_of_side(side));
      if (!row.in_baseline) {
        for (const ComparisonCell& cell : row.cells) sides.push_back(name_of_side(cell.side));
      }
      const std::string where = (row.in_baseline ? "missing in " : "only in ") + list_of(sides);
      if (last != nullptr && last->event == row.event && lines.back().second == where) {
        lines.back().first += ", " + level_name(row.level);
      } else {
        lines.emplace_back(row_name(row), where);
      }
      last = &row;
    }
    std::vector<std::string> notes;
    if (!comparison.empty.empty()) {
      notes.push_back(names_of_inputs(comparison.empty) + ": no measurement at all");
    }
    for (const auto& [name, where] : lines) notes.push_back(name + ": " + where);
    // Where nothing is compared, the first line names them.
    if (!alike.empty() && std::ranges::any_of(comparison.rows, is_compared)) {
      notes.push_back(pairs_to_compare());
    }
    return notes;
  }

  /// Lists each remark on a row once, with all sides that it is about.
  std::vector<std::string> remarks() const {
    std::vector<std::string> notes;
    for (const ComparisonRow& row : comparison.rows) {
      using Remark = std::pair<std::string, std::vector<std::string>>;  // with its sides
      std::vector<Remark> sides_of;
      for (const ComparisonCell& cell : row.cells) {
        for (const std::string& caveat : caveat_texts(cell)) {
          const std::string whole =
              (cell.outcome == Outcome::not_compared ? "not compared: " : "") + caveat;
          find_or_add(sides_of, &Remark::first, {whole, {}})
              .second.push_back(name_of_side(cell.side));
        }
      }
      for (const auto& [remark, sides] : sides_of) {
        notes.push_back(
            fmt::format("{}: {}: {}", row_name(row), list_of(sides), escape_for_terminal(remark)));
      }
    }
    return notes;
  }

  /// Whether samples were compared, and whether runs were.
  std::pair<bool, bool> compared() const {
    bool samples = false, runs = false;
    each_cell([&](const ComparisonRow&, const ComparisonCell& cell) {
      if (!cell.differences.empty()) (cell.over_runs ? runs : samples) = true;
    });
    return {samples, runs};
  }

  std::string method() const {
    const auto [samples, runs] = compared();
    std::string text = fmt::format(
        "A difference is marked when chance gives one in less than 5% of comparisons (Holm's "
        "procedure over {}) and it is larger than {} points or {} instructions. Each interval is "
        "of 95%.",
        analysis::counted(comparison.tests, "test"),
        number_text(comparison.choices.least_share * 100),
        number_text(comparison.choices.least_instructions));
    if (runs) text += " Repeated runs were compared over runs (Student's t), not over samples.";
    if (samples) {
      text += runs ? " The rest was compared over samples;" : " Samples were compared;";
      text +=
          " runs vary more than their samples: record --repeat 3 or more for a comparison over "
          "runs.";
    }
    return text;
  }
};

}  // namespace

std::string comparison_text(const Comparison& comparison, const std::vector<std::string>& inputs,
                            const Page& page, const EventPairs& alike) {
  const ComparisonText text{comparison, inputs, page, alike};
  return page.details ? text.details() : text.one_screen();
}

}  // namespace skid::output
