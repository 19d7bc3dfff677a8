#include "src/output/comparison/comparison_many.h"

#include "analysis/wording.h"
#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_cells.h"
#include "src/output/escape.h"
#include "src/output/report/grouping.h"

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
using analysis::Side;
using SideCell = analysis::Cell;

constexpr std::size_t kGap = 2;
constexpr std::size_t kShortestName = 14;

/// In which order outcomes are told; nullopt: they are counted only.
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

/// A column of the table of a level.
struct Column {
  std::string title;
  std::vector<Cell> cells;
  bool is_needed = true;  ///< else left out where the page is narrow

  std::size_t width() const {
    std::size_t width = display_width(title);
    for (const Cell& cell : cells) width = std::max(width, display_width(cell.text));
    return width;
  }
};

std::vector<Column> columns_of(const Page& page, const std::vector<const SideCell*>& shown,
                               const std::string& baseline) {
  std::vector<Column> columns{{"hit ratio", {}, true}, {"95% interval", {}, false},
                              {"median", {}, true},    {"p99", {}, false},
                              {"contract", {}, false}, {"against " + baseline, {}, true}};
  const auto number = [](const std::optional<Estimate>& estimate) {
    if (!estimate) return Cell{kUnknown, Ink::dim};
    return Cell{(estimate->at_least ? ">=" : "") + instructions_text(estimate->value)};
  };
  for (const SideCell* cell : shown) {
    const auto& ratio = cell->hit_ratio;
    columns[0].cells.push_back(ratio ? Cell{share_text(ratio->value), Ink::bold}
                                     : Cell{kUnknown, Ink::dim});
    columns[1].cells.push_back(
        {ratio ? interval_text(*ratio, page.unicode, share_text) : kUnknown, Ink::dim});
    columns[2].cells.push_back(number(cell->median));
    columns[3].cells.push_back(number(cell->p99));
    columns[4].cells.push_back({contract_text(*cell), contract_ink(*cell)});
    columns[5].cells.push_back({outcome_cell(cell->outcome, baseline), ink_of(cell->outcome)});
  }
  return columns;
}

std::size_t width_of(const std::vector<Column>& columns) {
  std::size_t width = kIndent;
  for (const Column& column : columns) width += kGap + column.width();
  return width;
}

/// Names end in what tells them apart, such as the number of a node.
std::string shortened(const std::string& name, std::size_t width) {
  if (display_width(name) <= width) return name;
  std::string end = name;
  while (!end.empty() && display_width(end) + 1 > width) {
    // Whole characters of UTF-8.
    do end.erase(0, 1);
    while (!end.empty() && (static_cast<unsigned char>(end.front()) & 0xc0U) == 0x80U);
  }
  return "~" + end;
}

std::string table_of(const Page& page, std::vector<std::string> names,
                     std::vector<Column> columns) {
  for (auto column = columns.end(); column != columns.begin();) {
    --column;
    if (column->is_needed || width_of(columns) + kShortestName <= page.width) continue;
    column = columns.erase(column);
  }
  const std::size_t used = width_of(columns);
  const std::size_t room =
      std::max(kShortestName, page.width > used ? page.width - used : kShortestName);
  std::size_t name_width = 0;
  for (std::string& name : names) {
    name = shortened(name, room);
    name_width = std::max(name_width, display_width(name));
  }
  std::string text;
  const auto add = [&](const std::string& name, const auto& cell_of) {
    std::string line = std::string(kIndent, ' ') + pad_right(name, name_width);
    for (const Column& column : columns) {
      const Cell cell = cell_of(column);
      const std::size_t width = column.width();
      line += std::string(kGap + width - display_width(cell.text), ' ') +
              paint(cell.text, cell.ink, page.color);
    }
    text += line + '\n';
  };
  add("", [](const Column& column) { return Cell{column.title, Ink::bold}; });
  for (std::size_t i = 0; i < names.size(); ++i) {
    add(names[i], [i](const Column& column) { return column.cells[i]; });
  }
  return text;
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

/// What the sides of a level range over, and how many came out how.
std::string summary_of(const Page& page, const Comparison& comparison, const ComparisonRow& row) {
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
  std::vector<std::pair<std::string, std::size_t>> contracts;
  contracts.reserve(verdicts.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    contracts.emplace_back(analysis::name_of(static_cast<analysis::Verdict>(i)), verdicts.at(i));
  }
  parts.push_back("contract " + counts_text(contracts));
  std::vector<std::pair<std::string, std::size_t>> told;
  told.reserve(outcomes.size() + 1);
  for (const auto& [outcome, count] : outcomes) {
    told.emplace_back(outcome_cell(outcome, letter_of(comparison.baseline)), count);
  }
  told.emplace_back("missing", row.missing.size());
  if (row.in_baseline) {
    parts.push_back(
        fmt::format("against {}: {}", letter_of(comparison.baseline), counts_text(told)));
  }
  return page.hanging(std::string(kIndent, ' '), 2 * kIndent,
                      fmt::format("all {}: {}", row.cells.size(), fmt::join(parts, "; ")));
}

}  // namespace

std::vector<const SideCell*> by_severity(const ComparisonRow& row) {
  std::vector<const SideCell*> told;
  for (const SideCell& cell : row.cells) {
    if (severity(cell.outcome)) told.push_back(&cell);
  }
  std::stable_sort(told.begin(), told.end(), [](const SideCell* a, const SideCell* b) {
    const auto key = [](const SideCell& cell) {
      return std::tuple(*severity(cell.outcome), cell.hit_ratio ? cell.hit_ratio->value : 2.0,
                        cell.mean ? -std::abs(cell.mean->value) : 0.0);
    };
    return key(*a) < key(*b);
  });
  return told;
}

std::string many_sides_head(const Page& page, const Comparison& comparison,
                            const std::vector<std::string>& inputs) {
  const Side& baseline = comparison.sides[comparison.baseline];
  std::vector<std::string> names;
  for (const std::size_t input : baseline.inputs) {
    names.push_back(escape_for_terminal(inputs[input]));
  }
  std::string text = page.field(letter_of(comparison.baseline), list_of(names) + " (baseline)");
  text += page.field(
      "", machine_text(baseline) + "; " + analysis::counted(baseline.measurements, "measurement"));
  std::vector<std::pair<std::string, std::size_t>> machines;  // in order of first appearance
  std::map<std::string, std::size_t> places;
  std::size_t synthetic = 0;
  for (const Side& side : comparison.sides) {
    const auto [place, is_new] = places.try_emplace(machine_text(side), machines.size());
    if (is_new) machines.emplace_back(place->first, 0);
    ++machines[place->second].second;
    if (side.synthetic) ++synthetic;
  }
  text += page.field("sides", fmt::format("{}, on {} of machine", comparison.sides.size(),
                                          analysis::counted(machines.size(), "kind")));
  for (std::size_t i = 0; i < machines.size() && i < kMostTold; ++i) {
    text += page.field("", fmt::format("{}: {}", machines[i].second, machines[i].first));
  }
  if (machines.size() > kMostTold) {
    text += page.field("", fmt::format("and {} other kinds", machines.size() - kMostTold));
  }
  if (synthetic > 0) {
    text +=
        page.field("SYNTHETIC",
                   fmt::format("{} of {} sides: samples made by skidscan synth; no CPU took them",
                               synthetic, comparison.sides.size()),
                   Ink::yellow);
  }
  return text;
}

std::string many_sides_level(const Page& page, const Comparison& comparison,
                             const std::vector<std::string>& inputs, const ComparisonRow& row) {
  std::vector<const SideCell*> shown = by_severity(row);
  const std::size_t differ = shown.size();
  shown.resize(std::min(differ, kMostTold));
  if (const SideCell* baseline = row.cell_of(comparison.baseline)) {
    shown.insert(shown.begin(), baseline);
  } else {
    // Nothing to hold them against; the first ones show what there is.
    for (const SideCell& cell : row.cells) {
      if (shown.size() < kMostTold) shown.push_back(&cell);
    }
  }
  std::vector<std::string> names;
  names.reserve(shown.size());
  for (const SideCell* cell : shown) names.push_back(side_text(comparison, inputs, cell->side));
  std::string text =
      page.paint(level_name(row.level), Ink::bold) + '\n' +
      table_of(page, std::move(names), columns_of(page, shown, letter_of(comparison.baseline)));
  if (differ > kMostTold) {
    text += page.hanging(
        std::string(kIndent, ' '), 2 * kIndent,
        fmt::format("{} more differ; --format csv has all of them", differ - kMostTold), Ink::dim);
  }
  return text + summary_of(page, comparison, row);
}

}  // namespace skid::output
