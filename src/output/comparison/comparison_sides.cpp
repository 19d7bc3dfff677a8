#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_parts.h"
#include "src/output/escape.h"
#include "src/output/report/grouping.h"
#include "src/output/report/parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {
namespace {

using analysis::Comparison;
using analysis::ComparisonRow;
using analysis::Estimate;
using analysis::Outcome;
using SideCell = analysis::Cell;

/// The order in which outcomes are shown; nullopt: they are counted only.
std::optional<int> severity(Outcome outcome) {
  switch (outcome) {
    case Outcome::worse:
      return 0;
    case Outcome::not_compared:
      return 1;
    case Outcome::different:
      return 2;
    case Outcome::better:
      return 3;
    default:
      return std::nullopt;
  }
}

Cell length_cell(const std::optional<Estimate>& estimate) {
  if (!estimate) return {kUnknown, Ink::dim};
  return {(estimate->at_least ? ">=" : "") + instructions_text(estimate->value)};
}

/// The first difference that is more than chance and large enough: "hit ratio -59.40 points".
std::string first_difference(const SideCell& cell) {
  for (const analysis::StatisticDifference& difference : cell.differences) {
    if (!difference.marked || difference.statistic == analysis::Statistic::distribution) continue;
    const bool is_constant = difference.statistic == analysis::Statistic::constant_share;
    return fmt::format("{} {}", is_constant ? "same offset" : name_of(difference.statistic),
                       signed_text(difference.statistic, difference.difference, true));
  }
  return {};
}

/// "0% to 100%", or the one number that all have.
std::optional<std::string> range_text(const ComparisonRow& row,
                                      const std::optional<Estimate> SideCell::*member,
                                      std::string (*number)(double)) {
  std::optional<double> low, high;
  bool at_least = false;
  for (const SideCell& cell : row.cells) {
    const auto& estimate = cell.*member;
    if (!estimate) continue;
    low = std::min(low.value_or(estimate->value), estimate->value);
    high = std::max(high.value_or(estimate->value), estimate->value);
    at_least = at_least || estimate->at_least;
  }
  if (!low || !high) return std::nullopt;
  const std::string from = number(*low), to = (at_least ? ">=" : "") + number(*high);
  return from == to ? from : from + " to " + to;
}

std::string counts_text(const std::vector<std::pair<std::string, std::size_t>>& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, name));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<const SideCell*> by_severity(const ComparisonRow& row) {
  std::vector<const SideCell*> shown;
  for (const SideCell& cell : row.cells) {
    if (severity(cell.outcome)) shown.push_back(&cell);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const SideCell* a, const SideCell* b) {
    const auto key = [](const SideCell& cell) {
      return std::tuple(*severity(cell.outcome), cell.hit_ratio ? cell.hit_ratio->value : 2.0,
                        cell.mean ? -std::abs(cell.mean->value) : 0.0);
    };
    return key(*a) < key(*b);
  });
  return shown;
}

std::string side_list(const Page& page, const Comparison& comparison,
                      const std::vector<std::string>& inputs, const std::vector<ShownRow>& rows,
                      bool with_rows) {
  struct Line {
    const ComparisonRow* row;
    const SideCell* cell;
    std::string event, level;  ///< empty where those of the line before
  };
  using Kind = ListColumn::Kind;
  std::vector<Line> lines;
  for (const ShownRow& shown : rows) {
    for (const SideCell* cell : shown.cells) {
      const bool is_first = lines.empty() || lines.back().row->event != shown.row->event;
      const bool is_first_of_level = lines.empty() || lines.back().row != shown.row;
      lines.push_back({shown.row, cell, is_first ? escape_for_terminal(shown.row->event) : "",
                       is_first_of_level ? level_name(shown.row->level) : ""});
    }
  }
  const std::string baseline = letter_of(comparison.baseline);
  std::vector<ColumnOf<Line>> columns;
  if (with_rows) {
    columns = {{{"event", Kind::shortened}, [](const Line& line) { return Cell{line.event}; }},
               {{"level", Kind::text}, [](const Line& line) { return Cell{line.level}; }}};
  }
  const std::vector<ColumnOf<Line>> numbers{
      // Names end in what distinguishes them, such as the number of a node.
      {{with_rows ? "side" : "", Kind::front_shortened},
       [&](const Line& line) { return Cell{side_text(comparison, inputs, line.cell->side)}; }},
      {{"hit ratio"},
       [](const Line& line) {
         const auto& ratio = line.cell->hit_ratio;
         return ratio ? Cell{share_text(ratio->value), Ink::bold} : Cell{kUnknown, Ink::dim};
       }},
      {{"95% interval", Kind::number, 2},
       [&](const Line& line) {
         const auto& ratio = line.cell->hit_ratio;
         return Cell{ratio ? interval_text(page, *ratio, share_text) : kUnknown, Ink::dim};
       }},
      {{"median"}, [](const Line& line) { return length_cell(line.cell->median); }},
      {{"p99", Kind::number, 1}, [](const Line& line) { return length_cell(line.cell->p99); }},
      {{"contract", Kind::text, 3},
       [](const Line& line) { return verdict_counts(line.cell->contracts); }},
      {{"against " + baseline, Kind::text}, [&](const Line& line) {
         const Outcome outcome = line.cell->outcome;
         return Cell{outcome_cell(outcome, baseline), ink_of(outcome)};
       }}};
  columns.insert(columns.end(), numbers.begin(), numbers.end());
  if (with_rows) {
    columns.push_back({{"by", Kind::text, 4}, [](const Line& line) {
                         return Cell{first_difference(*line.cell), Ink::dim};
                       }});
  }
  return page.list(columns_of(lines, std::move(columns)));
}

std::string summary_of_sides(const Page& page, const Comparison& comparison,
                             const ComparisonRow& row) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const std::optional<std::string>& range) {
    if (range) parts.push_back(fmt::format("{} {}", name, *range));
  };
  add("hit ratio", range_text(row, &SideCell::hit_ratio, share_text));
  add("median", range_text(row, &SideCell::median, instructions_text));
  add("p99", range_text(row, &SideCell::p99, instructions_text));
  std::array<std::size_t, 4> verdicts{};
  std::map<Outcome, std::size_t> outcomes;
  for (const SideCell& cell : row.cells) {
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      verdicts.at(i) += cell.contracts.at(i) > 0 ? 1 : 0;
    }
    if (cell.outcome != Outcome::baseline) ++outcomes[cell.outcome];
  }
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    counts.emplace_back(analysis::name_of(static_cast<analysis::Verdict>(i)), verdicts.at(i));
  }
  parts.push_back("contract " + counts_text(counts));
  if (row.in_baseline) {
    const std::string baseline = letter_of(comparison.baseline);
    counts.clear();
    for (const auto& [outcome, count] : outcomes) {
      counts.emplace_back(outcome_cell(outcome, baseline), count);
    }
    counts.emplace_back("missing", row.missing.size());
    parts.push_back(fmt::format("against {}: {}", baseline, counts_text(counts)));
  }
  return page.note(fmt::format("all {}: {}", row.cells.size(), fmt::join(parts, "; ")), Ink::plain,
                   kIndent);
}

}  // namespace skid::output
