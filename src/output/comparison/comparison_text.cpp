#include "analysis/wording.h"
#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_cells.h"
#include "src/output/comparison/comparison_many.h"
#include "src/output/escape.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {
namespace {

using analysis::Cell;
using analysis::Comparison;
using analysis::ComparisonRow;
using analysis::Estimate;
using analysis::Outcome;
using analysis::Side;
using analysis::Statistic;
using analysis::StatisticDifference;
using TableCell = output::Cell;

constexpr unsigned kNarrowestTerminal = 60;

class ComparisonText {
 public:
  ComparisonText(const Comparison& comparison, const std::vector<std::string>& inputs,
                 const Page& page)
      : comparison_(comparison), inputs_(inputs), page_(page) {}

  std::string text() const {
    std::string text = head();
    const auto& rows = comparison_.rows;
    for (auto row = rows.begin(); row != rows.end();) {
      const auto end = std::find_if(
          row, rows.end(), [&](const ComparisonRow& other) { return other.event != row->event; });
      text += table(row, end);
      row = end;
    }
    return text + differences() + too_few() + missing() + remarks() + method();
  }

 private:
  std::string baseline() const { return letter_of(comparison_.baseline); }
  bool is_many() const { return comparison_.sides.size() > kMostSideBySide; }
  std::string name_of_side(std::size_t side) const { return side_text(comparison_, inputs_, side); }

  std::string head() const {
    if (is_many()) return many_sides_head(page_, comparison_, inputs_);
    std::string text;
    std::vector<std::string> synthetic;
    for (std::size_t i = 0; i < comparison_.sides.size(); ++i) {
      const Side& side = comparison_.sides[i];
      std::vector<std::string> names;
      for (const std::size_t input : side.inputs) {
        names.push_back(escape_for_terminal(inputs_[input]));
      }
      std::string line = list_of(names);
      if (i == comparison_.baseline) line += " (baseline)";
      text += page_.field(letter_of(i), line);
      const bool same = i > 0 && machine_text(side) == machine_text(comparison_.sides[i - 1]);
      text += page_.field("", (same ? "the same machine" : machine_text(side)) + "; " +
                                  analysis::counted(side.measurements, "measurement"));
      if (side.synthetic) synthetic.push_back(letter_of(i));
    }
    if (!synthetic.empty()) {
      text += page_.field(
          "SYNTHETIC",
          fmt::format("{}: samples made by skidscan synth; no CPU took them", list_of(synthetic)),
          Ink::yellow);
    }
    return text;
  }

  std::string table(RowIterator begin, RowIterator end) const {
    if (is_many()) {
      std::string text = page_.rule(begin->event);
      for (auto row = begin; row != end; ++row) {
        text += many_sides_level(page_, comparison_, inputs_, *row);
      }
      return text;
    }
    const Table table = comparison_numbers(comparison_, begin, end, page_.unicode);
    return page_.rule(begin->event) + render(table, page_.width, page_.color);
  }

  /// Calls `function` for each cell that is no baseline.
  template <typename Function>
  void each_cell(Function function) const {
    for (const ComparisonRow& row : comparison_.rows) {
      for (const Cell& cell : row.cells) {
        if (cell.outcome != Outcome::baseline) function(row, cell);
      }
    }
  }

  std::string lead(const ComparisonRow& row, const Cell& cell) const {
    return std::string(kIndent, ' ') +
           fmt::format("{}: {} against {}", row_name(row), name_of_side(cell.side), baseline());
  }

  std::string difference_line(const StatisticDifference& difference, const Cell& cell) const {
    std::string text;
    if (difference.statistic == Statistic::distribution) {
      text = fmt::format("differs in {} of the samples, by {} instructions on average ({})",
                         analysis::percent(cell.distances->total_variation),
                         number_text(cell.distances->wasserstein), p_text(difference));
    } else {
      text = fmt::format("{} -> {}: {}", value_text(difference.statistic, difference.baseline),
                         value_text(difference.statistic, difference.here),
                         signed_text(difference.statistic, difference.difference, true));
      const auto end = [&](const std::optional<double>& value) {
        return value ? signed_text(difference.statistic, *value, false) : std::string("?");
      };
      text += fmt::format(" ({} to {}, {})", end(difference.low), end(difference.high),
                          p_text(difference));
    }
    std::string name(name_of(difference.statistic));
    if (difference.statistic == Statistic::constant_share) name = "same offset";
    constexpr std::size_t kNameWidth = 2 * kIndent + 14;
    return page_.hanging(std::string(2 * kIndent, ' ') + pad_right(name, kNameWidth - 2 * kIndent),
                         kNameWidth, text);
  }

  std::string difference_text(const ComparisonRow& row, const Cell& cell) const {
    const std::string outcome(name_of(cell.outcome));
    // A name can be too long for a line.
    std::string text =
        is_many() ? page_.hanging(std::string(kIndent, ' '), 2 * kIndent,
                                  lead(row, cell).substr(kIndent) + ": " + outcome)
                  : lead(row, cell) + ": " + page_.paint(outcome, ink_of(cell.outcome)) + '\n';
    for (const StatisticDifference& difference : cell.differences) {
      if (difference.marked) text += difference_line(difference, cell);
    }
    if (cell.contract_broke || cell.contract_mended) {
      text += std::string(2 * kIndent, ' ') + pad_right("contract", 14) +
              (cell.contract_broke ? "kept -> broken" : "broken -> kept") + '\n';
    }
    return text;
  }

  static bool is_told(const Cell& cell) {
    return cell.contract_broke || cell.contract_mended ||
           std::any_of(cell.differences.begin(), cell.differences.end(),
                       [](const auto& difference) { return difference.marked; });
  }

  std::string differences() const {
    std::string text;
    for (const ComparisonRow& row : comparison_.rows) {
      std::vector<const Cell*> told;
      if (is_many()) {
        told = by_severity(row);
      } else {
        for (const Cell& cell : row.cells) told.push_back(&cell);
      }
      std::erase_if(told, [](const Cell* cell) { return !is_told(*cell); });
      const std::size_t shown = is_many() ? std::min(told.size(), kMostTold) : told.size();
      for (std::size_t i = 0; i < shown; ++i) text += difference_text(row, *told[i]);
      if (shown < told.size()) {
        text += page_.hanging(std::string(kIndent, ' '), 2 * kIndent,
                              fmt::format("{}: {} more; --format csv has all of them",
                                          row_name(row), told.size() - shown));
      }
    }
    const std::string title = page_.title(fmt::format("What differs from {}", baseline()));
    if (text.empty()) {
      return title +
             page_.hanging(std::string(kIndent, ' '), kIndent,
                           "nothing is marked: no difference is more than chance and large enough",
                           Ink::dim);
    }
    return title + text;
  }

  /// What could have been seen where nothing was.
  std::string too_few() const {
    if (is_many()) return many_too_few();
    std::string text;
    each_cell([&](const ComparisonRow& row, const Cell& cell) {
      if (cell.outcome != Outcome::too_few || cell.differences.empty()) return;
      std::vector<std::string> parts;
      for (const StatisticDifference& difference : cell.differences) {
        const bool told =
            difference.statistic == Statistic::mean ||
            (difference.statistic == Statistic::hit_ratio && difference.p.has_value());
        if (!told || !difference.low || !difference.high) continue;
        const double half = (*difference.high - *difference.low) / 2;
        if (half == 0) continue;
        parts.push_back(is_share(difference.statistic)
                            ? fmt::format("of the hit ratio below {:.2g} points", half * 100)
                            : fmt::format("of the mean below {:.2g} instructions", half));
      }
      text +=
          page_.hanging(std::string(kIndent, ' '), 2 * kIndent,
                        fmt::format("{}: {}: too few {}{}", row_name(row), letter_of(cell.side),
                                    cell.over_runs ? "runs" : "samples",
                                    parts.empty() ? std::string(" for any interval")
                                                  : fmt::format("; a difference {} would not show",
                                                                fmt::join(parts, ", or "))));
    });
    return text.empty() ? text : page_.title("Too few to tell") + text;
  }

  std::string many_too_few() const {
    std::string text;
    for (const ComparisonRow& row : comparison_.rows) {
      std::vector<std::string> sides;
      for (const Cell& cell : row.cells) {
        if (cell.outcome == Outcome::too_few) sides.push_back(name_of_side(cell.side));
      }
      if (sides.empty()) continue;
      text += page_.hanging(std::string(kIndent, ' '), 2 * kIndent,
                            fmt::format("{}: {}", row_name(row), list_of(sides)));
    }
    return text.empty() ? text : page_.title("Too few to tell") + text;
  }

  /// Inputs without anything, and rows that some sides lack; levels of one event that the same
  /// sides lack on one line.
  std::string missing() const {
    std::vector<std::pair<std::string, std::string>>
        lines;  // event and levels; who has, lacks them
    const ComparisonRow* last = nullptr;
    for (const ComparisonRow& row : comparison_.rows) {
      if (row.in_baseline && row.missing.empty()) continue;
      std::vector<std::string> sides;
      for (const std::size_t side : row.missing) sides.push_back(name_of_side(side));
      if (!row.in_baseline) {
        for (const Cell& cell : row.cells) sides.push_back(name_of_side(cell.side));
      }
      const std::string where = (row.in_baseline ? "missing in " : "only in ") + list_of(sides);
      if (last != nullptr && last->event == row.event && lines.back().second == where) {
        lines.back().first += ", " + level_name(row.level);
      } else {
        lines.emplace_back(row_name(row), where);
      }
      last = &row;
    }
    std::string text;
    if (!comparison_.empty.empty()) {
      std::vector<std::string> names;
      for (const std::size_t input : comparison_.empty) {
        names.push_back(escape_for_terminal(inputs_[input]));
      }
      text += page_.hanging(std::string(kIndent, ' '), 2 * kIndent,
                            fmt::format("{}: no measurement at all", list_of(names)));
    }
    for (const auto& [name, where] : lines) {
      text +=
          page_.hanging(std::string(kIndent, ' '), 2 * kIndent, fmt::format("{}: {}", name, where));
    }
    return text.empty() ? text : page_.title("Not on all sides") + text;
  }

  /// Each remark once for a row, with all sides that it is made of.
  std::string remarks() const {
    std::string text;
    for (const ComparisonRow& row : comparison_.rows) {
      std::vector<std::pair<std::string, std::vector<std::string>>> said;
      std::map<std::string, std::size_t> places;
      for (const Cell& cell : row.cells) {
        for (const std::string& remark : cell.remarks) {
          const std::string whole =
              (cell.outcome == Outcome::not_compared ? "not compared: " : "") + remark;
          const auto [place, is_new] = places.try_emplace(whole, said.size());
          if (is_new) said.push_back({whole, {}});
          said[place->second].second.push_back(name_of_side(cell.side));
        }
      }
      for (const auto& [remark, sides] : said) {
        text += page_.hanging(
            std::string(kIndent, ' '), 2 * kIndent,
            fmt::format("{}: {}: {}", row_name(row), list_of(sides), escape_for_terminal(remark)));
      }
    }
    return text.empty() ? text : page_.title("To be read with care") + text;
  }

  std::string method() const {
    bool samples = false, runs = false;
    each_cell([&](const ComparisonRow&, const Cell& cell) {
      if (cell.differences.empty()) return;
      (cell.over_runs ? runs : samples) = true;
    });
    std::string text = fmt::format(
        "Marked is what chance gives in less than 5% of comparisons (Holm's procedure over {}) and "
        "is larger than {} points or {} instructions. Intervals are of 95%, each for itself.",
        analysis::counted(comparison_.tests, "test"),
        number_text(comparison_.choices.least_share * 100),
        number_text(comparison_.choices.least_instructions));
    if (runs) text += " Where there are repeats, runs were compared (Student's t), not samples.";
    if (samples) {
      text += runs ? " The rest was compared over samples;" : " Samples were compared;";
      text +=
          " runs vary more than their samples, and two runs may differ for reasons that come "
          "and go: record --repeat 3 or more tells.";
    }
    return page_.title("How to read this") +
           page_.hanging(std::string(kIndent, ' '), kIndent, text, Ink::dim);
  }

  const Comparison& comparison_;
  const std::vector<std::string>& inputs_;
  const Page& page_;
};

}  // namespace

std::string machine_text(const Side& side) {
  std::string text = cpu_name(side.cpu);
  if (!side.cpu.microcode.empty()) {
    text += ", microcode " + escape_for_terminal(side.cpu.microcode);
  }
  if (side.cpu.hypervisor) text += ", under " + escape_for_terminal(*side.cpu.hypervisor);
  if (!side.kernel.empty()) text += ", Linux " + escape_for_terminal(side.kernel);
  return text;
}

std::string letter_of(std::size_t side) {
  return letters(side);
}

std::string comparison_text(const Comparison& comparison, const std::vector<std::string>& inputs,
                            const TextStyle& style) {
  const Page page{style.color, style.unicode, std::max(style.width, kNarrowestTerminal)};
  return ComparisonText(comparison, inputs, page).text();
}

}  // namespace skid::output
