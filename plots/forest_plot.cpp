#include "plots/forest_plot.h"

#include "analysis/wording.h"
#include "plots/figure_rows.h"
#include "plots/figure_text.h"
#include "plots/forest_drawing.h"
#include "plots/palette.h"
#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_parts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::Cell;
using analysis::Comparison;
using analysis::ComparisonRow;
using analysis::Measurement;
using analysis::Outcome;
using output::MachineGroup;

constexpr const char* kMarks = "with 95% intervals; hollow: not judged";

/// Whether there are so many sides that only those that differ have a line of their own.
bool is_crowded(const Comparison& comparison) {
  return comparison.sides.size() > output::kMostSideBySide;
}

bool is_judged(const Measurement& measurement) {
  return measurement.basis.not_judged == analysis::NotJudged::none;
}

std::string numbers_of(const Cell& cell) {
  if (!cell.hit_ratio) return "no judged sample";
  std::string text = analysis::percent(cell.hit_ratio->value);
  if (cell.median) {
    text += fmt::format(", median {}{}", cell.median->at_least ? "at least " : "",
                        std::round(cell.median->value * 100) / 100);
  }
  return text;
}

/// Empty where there is nothing to remark.
std::string remark_of(const Cell& cell) {
  switch (cell.outcome) {
    case Outcome::worse:
    case Outcome::better:
    case Outcome::different:
    case Outcome::not_compared:
    case Outcome::too_few:
      return fmt::format(" ({})", name_of(cell.outcome));
    default:
      return {};
  }
}

/// What comes first is not cut.
std::string text_of(const Cell& cell) {
  std::string text = numbers_of(cell) + remark_of(cell);
  if (cell.runs.size() > 1) text += fmt::format(", {} runs", cell.runs.size());
  return text + ", " + samples_text(cell.runs);
}

/// `cell` null: the side lacks what the row is of.
ForestLine line_of(const ComparisonRow& row, std::size_t side, const Cell* cell) {
  ForestLine line;
  line.name = output::letter_of(side);
  line.color = forest_color(side);
  line.text = row.in_baseline ? "missing" : "none";
  line.grey = cell == nullptr;
  if (cell != nullptr) {
    line.ratio = cell->hit_ratio;
    line.judged = is_judged(*cell->runs.front());
    line.text = text_of(*cell);
  }
  return line;
}

ForestLine line_of_all(const ComparisonRow& row) {
  ForestLine line;
  line.name = "all";
  line.color = kGrey;
  line.grey = true;
  std::vector<const Measurement*> runs;
  for (const Cell& cell : row.cells) {
    if (cell.hit_ratio) line.all.push_back(cell.hit_ratio->value);
    runs.insert(runs.end(), cell.runs.begin(), cell.runs.end());
  }
  line.text = fmt::format("{} sides, {}", row.cells.size(), samples_text(runs));
  return line;
}

/// The level of a row; adds the sides that have a line to `sides`.
ForestLevel level_of(const Comparison& comparison, const ComparisonRow& row,
                     std::set<std::size_t>& sides) {
  ForestLevel level;
  level.name = output::level_name(row.level);
  const Cell* baseline = row.cell_of(comparison.baseline);
  if (baseline != nullptr && baseline->hit_ratio) level.baseline = baseline->hit_ratio->value;
  const auto add = [&](std::size_t side, const Cell* cell) {
    level.lines.push_back(line_of(row, side, cell));
    sides.insert(side);
  };
  if (!is_crowded(comparison)) {
    for (std::size_t side = 0; side < comparison.sides.size(); ++side) {
      add(side, row.cell_of(side));
    }
    return level;
  }
  if (baseline != nullptr) add(comparison.baseline, baseline);
  const auto differing = output::by_severity(row);
  for (std::size_t i = 0; i < differing.size() && i < output::kMostTold; ++i) {
    add(differing[i]->side, differing[i]);
  }
  level.lines.push_back(line_of_all(row));
  return level;
}

std::string key_of(const Comparison& comparison, const std::vector<std::string>& inputs,
                   std::size_t number) {
  const analysis::Side& side = comparison.sides[number];
  std::string text = output::letter_of(number) + "  ";
  text += side.inputs.size() == 1 ? inputs[side.inputs.front()]
                                  : fmt::format("{} inputs", side.inputs.size());
  if (number == comparison.baseline) text += " (baseline)";
  if (side.synthetic) text += ", synthetic";
  return text + ": " + output::machine_text(side);
}

void add_key(const char* color, const std::vector<std::string>& lines, Forest& forest) {
  for (const std::string& line : lines) {
    forest.key.emplace_back(color, line);
    color = nullptr;
  }
}

/// What of a row's label the level does not say.
std::string name_beside_level(const Row& row, bool one_machine) {
  const std::string label = row.column.label.substr(output::level_name(row.column.level).size());
  const std::size_t begin = label.find_first_not_of(' ');
  std::string rest = begin == std::string::npos ? "" : label.substr(begin);
  if (one_machine) return rest;
  return machine_name(row.machine) + (rest.empty() ? "" : "  " + rest);
}

ForestLine line_of(const Row& row, bool one_machine) {
  const Measurement& m = *row.column.measurement;
  ForestLine line;
  line.name = name_beside_level(row, one_machine);
  line.color = forest_color(row.machine);
  line.judged = is_judged(m);
  const auto& ratio = m.hit_ratio;
  if (ratio.total > 0) {
    line.ratio = analysis::Estimate{ratio.value, ratio.low, ratio.high};
    line.text = analysis::percent(ratio.value) + ", ";
  } else {
    line.text = "no judged sample, ";
  }
  line.text += samples_text(m);
  if (m.synthetic) line.text += ", synthetic";
  return line;
}

}  // namespace

Drawing draw_forest(const Comparison& comparison, const std::vector<std::string>& inputs) {
  Forest forest;
  const bool synthetic = std::any_of(comparison.sides.begin(), comparison.sides.end(),
                                     [](const auto& side) { return side.synthetic; });
  forest.title = fmt::format("Hit ratios{}", synthetic ? " (SYNTHETIC)" : "");
  forest.marks = fmt::format("{}; dotted: the baseline", kMarks);
  if (is_crowded(comparison)) {
    forest.marks +=
        fmt::format("; of {} sides at most {} that differ, worse ones first, then all of them",
                    comparison.sides.size(), output::kMostTold);
  }
  std::set<std::size_t> sides{comparison.baseline};
  for (const ComparisonRow& row : comparison.rows) {
    if (forest.panels.empty() || forest.panels.back().event != row.event) {
      forest.panels.push_back({row.event, {}});
    }
    forest.panels.back().levels.push_back(level_of(comparison, row, sides));
  }
  for (const std::size_t side : sides) {
    add_key(forest_color(side), lines_of(key_of(comparison, inputs, side), kForestKeyWidth, 9, 3),
            forest);
  }
  return draw_forest(forest);
}

Drawing draw_forest(const std::vector<MachineGroup>& machines) {
  const bool one_machine = machines.size() == 1;
  Forest forest;
  forest.title = title_of("Hit ratios", machines);
  forest.marks = kMarks;
  const auto lines = machine_lines(machines, kForestKeyWidth);
  for (std::size_t i = 0; i < lines.size(); ++i) add_key(forest_color(i), lines[i], forest);
  for (const EventRows& event : rows_by_event(machines)) {
    ForestPanel panel{event.event, {}};
    const Row* before = nullptr;
    for (const Row& row : event.rows) {
      if (before == nullptr || before->column.level != row.column.level) {
        panel.levels.push_back({output::level_name(row.column.level), {}, {}});
      }
      panel.levels.back().lines.push_back(line_of(row, one_machine));
      before = &row;
    }
    forest.panels.push_back(std::move(panel));
  }
  return draw_forest(forest);
}

}  // namespace skid::plots
