#include "analysis/wording.h"
#include "plots/kinds.h"
#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace skid::plots {
namespace {

using analysis::Comparison;
using analysis::ComparisonCell;
using analysis::ComparisonRow;
using analysis::Estimate;
using analysis::Measurement;
using analysis::Outcome;

constexpr const char* kMarks = "with 95% intervals; hollow: not judged";
constexpr int kPlotWidth = 560;    // pixels, because texts are long
constexpr int kLineHeight = 16;    // pixels
constexpr double kLevelGap = 0.5;  // rows

/// Whether there are so many sides that only those that differ have their own row.
bool is_crowded(const Comparison& comparison) {
  return comparison.sides.size() > output::kMostSideBySide;
}

bool is_judged(const Measurement& measurement) {
  return measurement.basis.not_judged == analysis::NotJudged::none;
}

double clamped_percent(double share) {
  return 100 * std::clamp(share, 0.0, 1.0);
}

/// A line with a ratio, or without one; or with the ratios of all sides.
struct Line {
  std::string label;
  Color color = Color::grey;
  std::optional<Estimate> ratio = {};
  bool judged = true;
  std::string text = {};
  Color text_color = Color::black;
  std::vector<double> all = {};
};

/// The panel of an event, one level after the other.
class ForestPanel {
 public:
  explicit ForestPanel(std::string event) : event_(std::move(event)) {}

  /// A level whose first lines cross a dotted line at the baseline's ratio.
  void begin_level(const std::optional<double>& baseline) {
    end_level();
    if (y_ > 0) y_ += kLevelGap;
    level_top_ = y_;
    baseline_ = baseline;
  }

  void add(const Line& line) {
    const double middle = y_ + 0.5;
    panel_.rows.push_back({middle, line.label, line.text, line.color, line.text_color});
    for (const double ratio : line.all) {
      const double x = clamped_percent(ratio);
      points_of(Color::grey, Shape::cross).push_back({x, middle, x, x});
    }
    if (line.ratio) {
      const double x = clamped_percent(line.ratio->value);
      const double low = clamped_percent(line.ratio->low.value_or(line.ratio->value));
      const double high = clamped_percent(line.ratio->high.value_or(line.ratio->value));
      points_of(line.color, line.judged ? Shape::disc : Shape::ring)
          .push_back({x,
                      middle,
                      low,
                      high,
                      {event_ + ", " + line.label,
                       fmt::format("hit ratio {} ({} to {})", analysis::percent(x / 100),
                                   analysis::percent(low / 100), analysis::percent(high / 100))}});
    }
    y_ += 1;
  }

  Panel finish() {
    end_level();
    Panel sized = row_panel(y_, kLineHeight);
    panel_.height = sized.height;
    panel_.y = sized.y;
    return std::move(panel_);
  }

 private:
  void end_level() {
    if (!baseline_) return;
    const double x = clamped_percent(*baseline_);
    panel_.rules.push_back({x, y_, x, level_top_, {Color::grey, 1, kDotted}});
    baseline_.reset();
  }

  std::vector<Point>& points_of(Color color, Shape shape) {
    for (Points& points : panel_.points) {
      if (points.color == color && points.shape == shape) return points.points;
    }
    return panel_.points.emplace_back(Points{color, shape}).points;
  }

  std::string event_;
  Panel panel_;
  double y_ = 0, level_top_ = 0;
  std::optional<double> baseline_;
};

/// One axis for all panels: the part of 0 to 100% that has all intervals, widened to tens.
void set_axes(Figure& figure) {
  double low = 100, high = 0;
  for (const Block& block : figure.blocks) {
    for (const Points& points : block.panels.front().points) {
      for (const Point& point : points.points) {
        low = std::min(low, point.low);
        high = std::max(high, point.high);
      }
    }
  }
  figure.plot_width = kPlotWidth;
  if (low > high) std::swap(low, high);
  low = std::floor(low / 10) * 10;
  high = std::max(std::ceil(high / 10) * 10, low + 10);
  const double pad = (high - low) * 0.02;
  for (Block& block : figure.blocks) {
    block.panels.front().x = {.low = low - pad,
                              .high = high + pad,
                              .tics = tics(low, high, high - low > 40 ? 20 : 5,
                                           [](double at) { return fmt::format("{:.0f}%", at); }),
                              .label = "hit ratio",
                              .grid = true};
  }
}

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

/// `cell` null: the side has no such row.
Line line_of(const ComparisonRow& row, std::size_t side, const ComparisonCell* cell) {
  Line line{.label = output::level_name(row.level) + "  " + output::letter_of(side),
            .color = color_of_side(side)};
  if (cell == nullptr) {
    line.text = row.in_baseline ? "missing" : "none";
    line.text_color = Color::grey;
    return line;
  }
  line.ratio = cell->hit_ratio;
  line.judged = is_judged(*cell->runs.front());
  line.text = text_of(*cell);
  return line;
}

Line line_of_all(const ComparisonRow& row) {
  Line line{.label = output::level_name(row.level) + "  all", .text_color = Color::grey};
  std::vector<const Measurement*> runs;
  for (const ComparisonCell& cell : row.cells) {
    if (cell.hit_ratio) line.all.push_back(cell.hit_ratio->value);
    runs.insert(runs.end(), cell.runs.begin(), cell.runs.end());
  }
  line.text = fmt::format("{} sides, {}", row.cells.size(), samples_text(runs));
  return line;
}

/// Adds a level, and to `sides` those that have a line.
void add_level(const Comparison& comparison, const ComparisonRow& row, ForestPanel& panel,
               std::set<std::size_t>& sides) {
  const ComparisonCell* baseline = row.cell_of(comparison.baseline);
  panel.begin_level(baseline != nullptr && baseline->hit_ratio
                        ? std::optional(baseline->hit_ratio->value)
                        : std::nullopt);
  const auto add = [&](std::size_t side, const ComparisonCell* cell) {
    panel.add(line_of(row, side, cell));
    sides.insert(side);
  };
  if (!is_crowded(comparison)) {
    for (std::size_t side = 0; side < comparison.sides.size(); ++side) {
      add(side, row.cell_of(side));
    }
    return;
  }
  if (baseline != nullptr) add(comparison.baseline, baseline);
  const auto differing = output::by_severity(row);
  for (std::size_t i = 0; i < differing.size() && i < output::kMostTold; ++i) {
    add(differing[i]->side, differing[i]);
  }
  panel.add(line_of_all(row));
}

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

Figure forest_figure(const Comparison& comparison, const std::vector<std::string>& inputs) {
  Figure figure;
  figure.title = "Hit ratios" + output::title_mark(comparison.sides);
  figure.remark = fmt::format("{}; dotted: the baseline", kMarks);
  if (is_crowded(comparison)) {
    figure.remark +=
        fmt::format("; of {} sides at most {} that differ, worse ones first, then all of them",
                    comparison.sides.size(), output::kMostTold);
  }
  std::set<std::size_t> sides{comparison.baseline};
  for (auto row = comparison.rows.begin(); row != comparison.rows.end();) {
    ForestPanel panel(row->event);
    const std::string& event = row->event;
    for (; row != comparison.rows.end() && row->event == event; ++row) {
      add_level(comparison, *row, panel, sides);
    }
    figure.blocks.push_back({event, {panel.finish()}});
  }
  for (const std::size_t side : sides) {
    figure.head.push_back(
        {.text = key_of(comparison, inputs, side), .swatch = color_of_side(side), .most_lines = 3});
  }
  set_axes(figure);
  return figure;
}

Figure forest_figure(const Machines& machines) {
  Figure figure = begin_figure("Hit ratios", machines);
  figure.remark = kMarks;
  for (std::size_t i = 0; i < figure.head.size(); ++i) figure.head[i].swatch = color_of_side(i);
  for (const EventRows& event : rows_by_event(machines)) {
    ForestPanel panel(event.event);
    int level = std::numeric_limits<int>::min();
    for (const Row& row : event.rows) {
      if (row.level != level) panel.begin_level(std::nullopt);
      level = row.level;
      const Measurement& m = *row.measurement;
      Line line{.label = row.label, .color = color_of_side(row.machine), .judged = is_judged(m)};
      line.text = "no judged sample, ";
      if (m.hit_ratio.total > 0) {
        line.ratio = Estimate{m.hit_ratio.value, m.hit_ratio.low, m.hit_ratio.high};
        line.text = analysis::percent(m.hit_ratio.value) + ", ";
      }
      line.text += samples_text(m).append(output::origin_word(output::origin_of(m)));
      panel.add(line);
    }
    figure.blocks.push_back({event.event, {panel.finish()}});
  }
  set_axes(figure);
  return figure;
}

}  // namespace skid::plots
