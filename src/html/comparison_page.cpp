#include "analysis/wording.h"
#include "plots/kinds.h"
#include "src/html/markup.h"
#include "src/html/pages.h"
#include "src/html/svg.h"
#include "src/html/tables.h"
#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_parts.h"
#include "src/output/report/grouping.h"
#include "src/output/report/report.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::html {
namespace {

using analysis::Comparison;
using analysis::ComparisonCell;
using analysis::ComparisonRow;
using analysis::Outcome;
using analysis::Side;
using analysis::Statistic;
using analysis::StatisticDifference;

class ComparisonPage {
 public:
  ComparisonPage(const Comparison& comparison, const std::vector<std::string>& inputs)
      : comparison_(comparison), inputs_(inputs) {}

  Markup body() const {
    Markup content = sides() + element("h2", "What differs from " + baseline()) + differences() +
                     element("h2", "Hit ratios") +
                     svg_figure("Hit ratios of the sides with their intervals",
                                plots::forest_figure(comparison_, inputs_));
    if (!is_many()) content += numbers();
    content += element("h2", "The whole comparison as text");
    content += element("details", element("summary",
                                          "What is missing or cannot be compared, warnings, "
                                          "and the tests") +
                                      element("pre", text()));
    return content;
  }

 private:
  std::string baseline() const { return output::letter_of(comparison_.baseline); }
  /// Whether there are too many sides for a table with a column each.
  bool is_many() const { return comparison_.sides.size() > output::kMostSideBySide; }

  Markup text() const {
    constexpr unsigned kColumns = 110;
    // Line by line: Markup escapes the ends of lines, which no name may contain.
    const std::string lines = output::comparison_text(
        comparison_, inputs_, {.color = false, .width = kColumns, .unicode = true});
    Markup markup;
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', at), lines.size());
      markup += element("span", {{"class", "line"}}, std::string_view(lines).substr(at, end - at));
      at = end + 1;
    }
    return markup;
  }

  std::string names_of(const Side& side) const {
    std::vector<std::string> names;
    for (const std::size_t input : side.inputs) names.push_back(inputs_[input]);
    return output::list_of(names);
  }

  Markup sides() const {
    std::vector<SortableRow> rows;
    for (std::size_t i = 0; i < comparison_.sides.size(); ++i) {
      const Side& side = comparison_.sides[i];
      std::string letter = output::letter_of(i);
      if (i == comparison_.baseline) letter += " (baseline)";
      rows.push_back(
          {{letter, static_cast<double>(i)},
           names_of(side),
           output::machine_text(side),
           {fmt::format("{}", side.measurements), static_cast<double>(side.measurements)}});
    }
    Markup notice;
    for (const output::SampleOrigin origin : output::kOtherOrigins) {
      const auto letters = output::letters_of(comparison_.sides, origin);
      if (!letters.empty()) notice += origin_box(origin, output::list_of(letters));
    }
    return notice + element("h2", "The sides") +
           sortable_table("What is compared with " + baseline(),
                          {{"side"}, {"inputs"}, {"machine"}, number_column("measurements")}, rows);
  }

  SortableRow difference_row(const ComparisonRow& row, const ComparisonCell& cell,
                             const StatisticDifference& of) const {
    // A distribution is not a single value: its distance is a share.
    const bool is_distribution = of.statistic == Statistic::distribution;
    const auto value = [&](double number) -> SortableCell {
      if (is_distribution) return unknown_cell();
      return {output::value_text(of.statistic, number), number};
    };
    const auto difference = [&](const std::optional<double>& number) -> SortableCell {
      if (!number) return unknown_cell();
      return {output::signed_text(of.statistic, *number, true), *number};
    };
    return {row.event,
            {output::level_name(row.level), static_cast<double>(row.level)},
            {output::letter_of(cell.side), static_cast<double>(cell.side)},
            analysis::name_of(of.statistic),
            value(of.baseline),
            value(of.here),
            is_distribution ? SortableCell{output::share_text(of.difference), of.difference}
                            : difference(of.difference),
            difference(of.low),
            difference(of.high),
            of.adjusted_p ? SortableCell{output::p_text(of), *of.adjusted_p} : unknown_cell(),
            inked(std::string(analysis::name_of(cell.outcome)), output::ink_of(cell.outcome))};
  }

  Markup differences() const {
    std::vector<SortableRow> rows;
    Markup contracts;
    for (const ComparisonRow& row : comparison_.rows) {
      for (const ComparisonCell& cell : row.cells) {
        if (cell.outcome == Outcome::baseline) continue;
        for (const StatisticDifference& difference : cell.differences) {
          if (difference.marked) rows.push_back(difference_row(row, cell, difference));
        }
        if (cell.contract_broke || cell.contract_fixed) {
          contracts += element(
              "li",
              fmt::format("{}: {}: the contract was {} in the baseline and is {} here",
                          output::row_name(row), output::side_text(comparison_, inputs_, cell.side),
                          cell.contract_broke ? "kept" : "broken",
                          cell.contract_broke ? "broken" : "kept"));
        }
      }
    }
    if (!contracts.empty()) contracts = element("ul", contracts);
    if (rows.empty()) {
      return element("p",
                     "No difference is marked: none exceeds both chance and the least effect.") +
             contracts;
    }
    return sortable_table(
               fmt::format(
                   "More than chance (Holm's procedure over {}) and larger than {} points or {} "
                   "instructions, with 95% intervals",
                   analysis::counted(comparison_.tests, "test"),
                   output::number_text(comparison_.choices.least_share * 100),
                   output::number_text(comparison_.choices.least_instructions)),
               {{"event"},
                {"level"},
                {"side"},
                {"statistic"},
                number_column(baseline()),
                number_column("here"),
                number_column("difference"),
                number_column("from"),
                number_column("to"),
                number_column("adjusted p"),
                {"outcome"}},
               rows) +
           contracts;
  }

  Markup numbers() const {
    Markup content = element("h2", "In numbers");
    const auto& rows = comparison_.rows;
    for (auto row = rows.begin(); row != rows.end();) {
      const auto end = std::find_if(
          row, rows.end(), [&](const ComparisonRow& other) { return other.event != row->event; });
      content += element("h3", row->event);
      content += table("Levels as rows, sides as columns",
                       output::comparison_numbers(comparison_, row, end, output::Page{}));
      row = end;
    }
    return content;
  }

  const Comparison& comparison_;
  const std::vector<std::string>& inputs_;
};

}  // namespace

std::string comparison_page(const Comparison& comparison, const std::vector<std::string>& inputs,
                            const Origin& origin) {
  return document("skidscan compare", "Where samples land, compared",
                  "What differs from a baseline, by how much, and whether by more than chance.",
                  ComparisonPage(comparison, inputs).body(), origin);
}

}  // namespace skid::html
