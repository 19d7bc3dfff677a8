// Draws hit ratios with their intervals, row by row, for measurements and for sides of a
// comparison.
#include "analysis/comparison.h"
#include "analysis/contract.h"
#include "analysis/figures.h"
#include "analysis/measurement.h"
#include "analysis/share.h"
#include "analysis/wording.h"
#include "plots/drawing.h"
#include "plots/figure_options.h"
#include "plots/kinds.h"
#include "plots/labels.h"
#include "plots/machines.h"
#include "plots/rows.h"
#include "plots/selection.h"
#include "src/machine/machine.h"
#include "src/output/comparison/comparison_parts.h"
#include "src/output/report/event_levels.h"
#include "src/output/report/grouping.h"
#include "src/output/report/machine_text.h"
#include "src/output/report/sample_origin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::Comparison;
using analysis::ComparisonCell;
using analysis::ComparisonRow;
using analysis::Estimate;
using analysis::Measurement;
using analysis::Outcome;

constexpr double kForestWidth = 900;  // pixels

/// The marks of ratios, and the axis that contains them.
class Marks {
 public:
  /// Adds a mark at the height `y`. `color` is the number of a machine or side.
  void add(const Estimate& ratio, double y, std::size_t color, const Measurement& measurement) {
    const auto percent = [](double share) { return 100 * std::clamp(share, 0.0, 1.0); };
    const double from = percent(ratio.low.value_or(ratio.value));
    const double to = percent(ratio.high.value_or(ratio.value));
    const bool is_judged = verdict_of(measurement) != analysis::Verdict::not_judged;
    (is_judged ? filled_ : hollow_)
        .push_back({percent(ratio.value), y, from, to, static_cast<double>(color + 1)});
    low_ = std::min(low_, from);
  }

  /// Returns the figure. Its axis has all intervals, and ends at 100%.
  Figure finish(RowPlot& plot) {
    for (auto& [rows, type] : {std::pair(&hollow_, 6), std::pair(&filled_, 7)}) {
      if (rows->empty()) continue;
      plot.panel.series.push_back(
          {fmt::format("$d using 1:2:3:4:5 with xerrorbars pt {} lw 1.2 lc variable", type),
           std::move(*rows)});
    }
    return plot.finish(std::floor(low_ / 10) * 10, "hit ratio, 95% interval; hollow: no verdict");
  }

 private:
  Rows filled_, hollow_;
  double low_ = 90;
};

/// Returns the text of a row. The most important part is first, because a long text is cut at its
/// end.
std::string text_of(const ComparisonCell& cell) {
  std::string text = "no judged sample";
  if (cell.hit_ratio) {
    text = analysis::percent(cell.hit_ratio->value);
    if (cell.median) {
      text += fmt::format(", median {}{}", cell.median->at_least ? "at least " : "",
                          std::round(cell.median->value * 100) / 100);
    }
  }
  if (cell.outcome > Outcome::no_difference && cell.outcome < Outcome::only_here) {
    text += fmt::format(" ({})", name_of(cell.outcome));
  }
  if (cell.runs.size() > 1) text += fmt::format(", {} runs", cell.runs.size());
  return text + ", " + samples_text(cell.runs);
}

/// Lists the sides that have a row. With many sides these are the baseline and those that differ.
std::vector<std::size_t> sides_of(const Comparison& comparison, const ComparisonRow& row) {
  std::vector<std::size_t> sides;
  if (comparison.sides.size() <= output::kMostSideBySide) {
    sides.resize(comparison.sides.size());
    std::iota(sides.begin(), sides.end(), 0);
    return sides;
  }
  if (row.cell_of(comparison.baseline) != nullptr) sides.push_back(comparison.baseline);
  for (const ComparisonCell* cell : output::by_severity(row)) {
    if (sides.size() <= output::kMostTold) sides.push_back(cell->side);
  }
  return sides;
}

/// Adds a row for each side, and a dotted line at the baseline's ratio.
void add_sides(const Comparison& comparison, const ComparisonRow& row, RowPlot& plot, Marks& marks,
               std::set<std::size_t>& shown) {
  const double top = plot.next() - 0.5;
  for (const std::size_t side : sides_of(comparison, row)) {
    const ComparisonCell* cell = row.cell_of(side);
    const double y = plot.add(output::level_name(row.level) + "  " + output::letter_of(side),
                              cell == nullptr ? "" : text_of(*cell));
    shown.insert(side);
    if (cell == nullptr) plot.add_note("not measured", y);
    if (cell != nullptr && cell->hit_ratio) {
      marks.add(*cell->hit_ratio, y, side, *cell->runs.front());
    }
  }
  const ComparisonCell* baseline = row.cell_of(comparison.baseline);
  if (baseline == nullptr || !baseline->hit_ratio) return;
  plot.panel.marks.push_back(fmt::format("set arrow from {0:.10g},{1} to {0:.10g},{2} nohead ls 5",
                                         100 * baseline->hit_ratio->value, top, plot.next() - 0.5));
}

std::string side_text(const Comparison& comparison, const std::vector<std::string>& inputs,
                      std::size_t number) {
  const analysis::Side& side = comparison.sides[number];
  std::string text = output::letter_of(number) + ":  ";
  text += side.inputs.size() == 1 ? inputs[side.inputs.front()]
                                  : fmt::format("{} inputs", side.inputs.size());
  if (number == comparison.baseline) text += " (baseline)";
  text += output::origin_word(output::origin_of(side));
  return text + ": " + output::machine_text(side);
}

}  // namespace

Figure forest_figure(const Comparison& comparison, const std::vector<std::string>& inputs,
                     const FigureOptions& options) {
  RowPlot plot(begin_figure("Hit ratios", {}, options, kForestWidth));
  Marks marks;
  add_mark(plot.figure, output::title_mark(comparison.sides));
  std::set<std::size_t> shown{comparison.baseline};
  std::string event;
  output::EventLevels measured;
  for (const ComparisonRow& row : comparison.rows) {
    const Measurement& first = *row.cells.front().runs.front();
    measured.add(event_name(first), machine::level_name(row.level));
    if (!is_selected(first, row.level, options)) continue;
    if (std::exchange(event, row.event) != row.event) {
      plot.begin_event(options.id_prefix.empty() ? event_name(first) : row.event);
    } else {
      plot.skip(0.4);
    }
    add_sides(comparison, row, plot, marks, shown);
  }
  if (event.empty()) throw_none_selected(measured);
  for (const std::size_t side : shown) {
    plot.figure.head.push_back(side_text(comparison, inputs, side));
  }
  plot.figure.note = "dotted: the baseline";
  if (comparison.sides.size() > output::kMostSideBySide) {
    plot.figure.note += fmt::format("; of {} sides at most {} that differ, worse ones first",
                                    comparison.sides.size(), output::kMostTold);
  }
  return marks.finish(plot);
}

Figure forest_figure(const Machines& machines, const FigureOptions& options) {
  RowPlot plot(begin_figure("Hit ratios", machines, options, kForestWidth));
  Marks marks;
  plot.add_all(machines, [&](const Measurement& m, std::size_t machine, double y) {
    const analysis::Share& ratio = m.hit_ratio;
    if (ratio.total == 0) {
      plot.add_note("no judged sample", y);
      return run_text(m);
    }
    marks.add({ratio.value, ratio.low, ratio.high}, y, machine, m);
    return analysis::percent(ratio.value) + ", " + run_text(m);
  });
  return marks.finish(plot);
}

}  // namespace skid::plots
