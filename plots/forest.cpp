// Hit ratios with their intervals, row by row: of measurements, and of the sides of a comparison.
#include "analysis/wording.h"
#include "plots/kinds.h"
#include "plots/rows.h"
#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_parts.h"
#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
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
constexpr std::size_t kSideColors = 7;

/// Whether there are so many sides that only those that differ have their own row.
bool is_crowded(const Comparison& comparison) {
  return comparison.sides.size() > output::kMostSideBySide;
}

bool has_verdict(const Measurement& measurement) {
  return verdict_of(measurement) != analysis::Verdict::not_judged;
}

double clamped_percent(double share) {
  return 100 * std::clamp(share, 0.0, 1.0);
}

std::string color_of_side(std::size_t side) {
  return fmt::format("lc rgb machine[{}]", side % kSideColors + 1);
}

/// The marks of all rows by their look, and the axis that holds them.
class Marks {
 public:
  void add(const Estimate& ratio, double y, std::size_t side, bool is_filled) {
    const double value = clamped_percent(ratio.value);
    const double from = clamped_percent(ratio.low.value_or(ratio.value));
    const double to = clamped_percent(ratio.high.value_or(ratio.value));
    points_[{side % kSideColors, is_filled}].push_back({value, y, from, to});
    low_ = std::min(low_, from);
    high_ = std::max(high_, to);
  }
  void add_cross(double share, double y) {
    crosses_.push_back({clamped_percent(share), y});
    low_ = std::min(low_, crosses_.back()[0]);
    high_ = std::max(high_, crosses_.back()[0]);
  }
  /// Dotted, at the baseline's ratio.
  void add_rule(double share, double top, double bottom) {
    rules_.push_back({clamped_percent(share), top, 0, bottom - top});
  }

  /// The part of 0 to 100% that has all intervals, widened to tens.
  Figure finish(RowPlot& plot) {
    if (!rules_.empty()) {
      plot.panel.series.push_back({"using 1:2:3:4 with vectors nohead ls 5", std::move(rules_)});
    }
    if (!crosses_.empty()) {
      plot.panel.series.push_back(
          {"using 1:2 with points pt 2 ps 0.4 lc rgb '#777777'", std::move(crosses_)});
    }
    for (auto& [look, rows] : points_) {
      plot.panel.series.push_back({fmt::format("using 1:2:3:4 with xerrorbars pt {} lw 1.2 {}",
                                               look.second ? 7 : 6, color_of_side(look.first)),
                                   std::move(rows)});
    }
    if (low_ > high_) std::swap(low_, high_);
    const double low = std::floor(low_ / 10) * 10;
    return plot.finish(low, std::max(std::ceil(high_ / 10) * 10, low + 10),
                       plot.figure.paper.is_narrow()
                           ? "hit ratio; hollow: no verdict"
                           : "hit ratio with its 95% interval; hollow: no verdict");
  }

 private:
  std::map<std::pair<std::size_t, bool>, Rows> points_;
  Rows crosses_, rules_;
  double low_ = 100, high_ = 0;
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

/// Adds the rows of the sides of a comparison at a level.
class SideRows {
 public:
  explicit SideRows(const Comparison& comparison, RowPlot& plot)
      : comparison_(comparison), plot_(plot), sides{comparison.baseline} {}

  void add(const ComparisonRow& row) {
    const double top = plot_.next() - 0.5;
    const ComparisonCell* baseline = row.cell_of(comparison_.baseline);
    if (is_crowded(comparison_)) {
      if (baseline != nullptr) add(row, baseline->side, baseline);
      const auto differing = output::by_severity(row);
      for (std::size_t i = 0; i < differing.size() && i < output::kMostTold; ++i) {
        add(row, differing[i]->side, differing[i]);
      }
      add_all(row);
    } else {
      for (std::size_t side = 0; side < comparison_.sides.size(); ++side) {
        add(row, side, row.cell_of(side));
      }
    }
    if (baseline != nullptr && baseline->hit_ratio) {
      marks.add_rule(baseline->hit_ratio->value, top, plot_.next() - 0.5);
    }
  }

 private:
  /// `cell` null: the side has no such row.
  void add(const ComparisonRow& row, std::size_t side, const ComparisonCell* cell) {
    const std::string absent = row.in_baseline ? "missing" : "not measured";
    const double y = plot_.add(output::level_name(row.level) + "  " + output::letter_of(side),
                               cell == nullptr ? absent : text_of(*cell));
    sides.insert(side);
    if (cell != nullptr && cell->hit_ratio) {
      marks.add(*cell->hit_ratio, y, side, has_verdict(*cell->runs.front()));
    }
  }

  void add_all(const ComparisonRow& row) {
    std::vector<const Measurement*> runs;
    for (const ComparisonCell& cell : row.cells) {
      if (cell.hit_ratio) marks.add_cross(cell.hit_ratio->value, plot_.next());
      runs.insert(runs.end(), cell.runs.begin(), cell.runs.end());
    }
    plot_.add(output::level_name(row.level) + "  all",
              fmt::format("{} sides, {}", row.cells.size(), samples_text(runs)));
  }

  const Comparison& comparison_;
  RowPlot& plot_;

 public:
  std::set<std::size_t> sides;  ///< that have a row
  Marks marks;
};

std::string key_of(const Comparison& comparison, const std::vector<std::string>& inputs,
                   std::size_t number) {
  const analysis::Side& side = comparison.sides[number];
  std::string text = output::letter_of(number) + "  ";
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
  plot.figure.title += output::title_mark(comparison.sides);
  SideRows rows(comparison, plot);
  std::string event;
  for (const ComparisonRow& row : comparison.rows) {
    const Measurement& first = *row.cells.front().runs.front();
    if (!is_selected(first, row.level, options)) continue;
    if (std::exchange(event, row.event) != row.event) {
      plot.begin_event(event_name(first));
    } else {
      plot.skip(0.4);
    }
    rows.add(row);
  }
  if (event.empty()) throw_none_selected();
  plot.figure.head = {"dotted: the baseline"};
  if (is_crowded(comparison)) {
    plot.figure.head.front() +=
        fmt::format("; of {} sides at most {} that differ, worse ones first, then all of them",
                    comparison.sides.size(), output::kMostTold);
  }
  for (const std::size_t side : rows.sides) {
    plot.figure.keys.push_back(
        {"with points pt 7 " + color_of_side(side), key_of(comparison, inputs, side)});
  }
  plot.figure.long_keys = true;
  return rows.marks.finish(plot);
}

Figure forest_figure(const Machines& machines, const FigureOptions& options) {
  RowPlot plot(begin_figure("Hit ratios", machines, options, kForestWidth));
  Marks marks;
  for (const EventRows& event : rows_by_event(machines)) {
    plot.begin_event(event.event);
    int level = event.rows.front().level;
    for (const Row& row : event.rows) {
      if (machines.size() > 1 && std::exchange(level, row.level) != row.level) plot.skip(0.4);
      const Measurement& m = *row.measurement;
      const bool has_ratio = m.hit_ratio.total > 0;
      std::string text = has_ratio ? analysis::percent(m.hit_ratio.value) : "no judged sample";
      text += ", " + samples_text({&m});
      text += output::origin_word(output::origin_of(m));
      const double y = plot.add(row.name, text);
      if (!has_ratio) continue;
      marks.add({m.hit_ratio.value, m.hit_ratio.low, m.hit_ratio.high}, y, row.machine,
                has_verdict(m));
    }
  }
  if (machines.size() > 1) {
    for (std::size_t i = 0; i < machines.size(); ++i) {
      plot.figure.keys.push_back(
          {"with points pt 7 " + color_of_side(i), machine_name(machines, i)});
    }
  }
  return marks.finish(plot);
}

}  // namespace skid::plots
