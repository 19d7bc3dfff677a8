// Hit ratios with their intervals, row by row: of measurements, and of the sides of a comparison.
#include "analysis/wording.h"
#include "plots/kinds.h"
#include "plots/rows.h"
#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

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

double clamped_percent(double share) {
  return 100 * std::clamp(share, 0.0, 1.0);
}

/// A plot of ratios: their marks by their look, and the axis that holds them.
class Forest {
 public:
  explicit Forest(Figure begun) : plot(std::move(begun)) {}

  /// A row; `ratio` null: with its text alone. `color`: the number of a machine or side.
  void add(const std::string& name, const std::string& text, const Estimate* ratio,
           std::size_t color, const Measurement& measurement) {
    const double y = plot.add(name, text);
    if (ratio == nullptr) return;
    const double from = clamped_percent(ratio->low.value_or(ratio->value));
    const double to = clamped_percent(ratio->high.value_or(ratio->value));
    const bool is_judged = verdict_of(measurement) != analysis::Verdict::not_judged;
    (is_judged ? filled_ : hollow_)
        .push_back({clamped_percent(ratio->value), y, from, to, static_cast<double>(color + 1)});
    low_ = std::min(low_, from);
  }
  /// Dotted, at the baseline's ratio.
  void add_rule(double share, double top, double bottom) {
    rules_.push_back({clamped_percent(share), top, 0, bottom - top});
  }

  /// The axis has all intervals, and ends at 100%.
  Figure finish() {
    const auto add_series = [this](const char* with, Rows& rows) {
      if (!rows.empty()) plot.panel.series.push_back({with, std::move(rows)});
    };
    add_series("$d using 1:2:3:4 with vectors nohead ls 5", rules_);
    add_series("$d using 1:2:3:4:5 with xerrorbars pt 6 lw 1.2 lc variable", hollow_);
    add_series("$d using 1:2:3:4:5 with xerrorbars pt 7 lw 1.2 lc variable", filled_);
    return plot.finish(std::floor(low_ / 10) * 10, "hit ratio, 95% interval; hollow: no verdict");
  }

  RowPlot plot;

 private:
  Rows filled_, hollow_, rules_;
  double low_ = 90;
};

/// The most important part first: a long text is cut at its end.
std::string text_of(const ComparisonCell& cell) {
  std::string text = "no judged sample";
  if (cell.hit_ratio) {
    text = analysis::percent(cell.hit_ratio->value);
    if (cell.median) {
      text += fmt::format(", median {}{}", cell.median->at_least ? "at least " : "",
                          std::round(cell.median->value * 100) / 100);
    }
  }
  constexpr std::array kRemarked{Outcome::worse, Outcome::better, Outcome::different,
                                 Outcome::not_compared, Outcome::too_few};
  if (std::find(kRemarked.begin(), kRemarked.end(), cell.outcome) != kRemarked.end()) {
    text += fmt::format(" ({})", name_of(cell.outcome));
  }
  if (cell.runs.size() > 1) text += fmt::format(", {} runs", cell.runs.size());
  return text + ", " + samples_text(cell.runs);
}

/// The sides that have a row, the baseline first where there are so many that only those that
/// differ have one.
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

/// A row for each side.
void add_sides(const Comparison& comparison, const ComparisonRow& row, Forest& forest,
               std::set<std::size_t>& shown) {
  const double top = forest.plot.next() - 0.5;
  for (const std::size_t side : sides_of(comparison, row)) {
    const std::string name = output::level_name(row.level) + "  " + output::letter_of(side);
    const ComparisonCell* cell = row.cell_of(side);
    shown.insert(side);
    if (cell == nullptr) {
      forest.plot.add(name, row.in_baseline ? "missing" : "not measured");
    } else {
      forest.add(name, text_of(*cell), cell->hit_ratio ? &*cell->hit_ratio : nullptr, side,
                 *cell->runs.front());
    }
  }
  const ComparisonCell* baseline = row.cell_of(comparison.baseline);
  if (baseline != nullptr && baseline->hit_ratio) {
    forest.add_rule(baseline->hit_ratio->value, top, forest.plot.next() - 0.5);
  }
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
  Forest forest(begin_figure("Hit ratios", {}, options, kForestWidth));
  RowPlot& plot = forest.plot;
  plot.figure.title += output::title_mark(comparison.sides);
  std::set<std::size_t> shown{comparison.baseline};
  std::string event;
  for (const ComparisonRow& row : comparison.rows) {
    const Measurement& first = *row.cells.front().runs.front();
    if (!is_selected(first, row.level, options)) continue;
    if (std::exchange(event, row.event) != row.event) {
      plot.begin_event(event_name(first));
    } else {
      plot.skip(0.4);
    }
    add_sides(comparison, row, forest, shown);
  }
  if (event.empty()) throw_none_selected();
  for (const std::size_t side : shown) {
    plot.figure.head.push_back(side_text(comparison, inputs, side));
  }
  plot.figure.head.emplace_back("dotted: the baseline");
  if (comparison.sides.size() > output::kMostSideBySide) {
    plot.figure.head.back() += fmt::format("; of {} sides at most {} that differ, worse ones first",
                                           comparison.sides.size(), output::kMostTold);
  }
  return forest.finish();
}

Figure forest_figure(const Machines& machines, const FigureOptions& options) {
  Forest forest(begin_figure("Hit ratios", machines, options, kForestWidth));
  for (const EventOnMachines& event : events_of(machines)) {
    forest.plot.begin_event(event.event);
    for (const Row& row : rows_of(event, machines)) {
      const Measurement& m = *row.measurement;
      const bool has_ratio = m.hit_ratio.total > 0;
      std::string text = has_ratio ? analysis::percent(m.hit_ratio.value) : "no judged sample";
      text += ", " + samples_text({&m});
      text += output::origin_word(output::origin_of(m));
      const Estimate ratio{m.hit_ratio.value, m.hit_ratio.low, m.hit_ratio.high};
      forest.add(row.name, text, has_ratio ? &ratio : nullptr, row.machine, m);
    }
  }
  return forest.finish();
}

}  // namespace skid::plots
