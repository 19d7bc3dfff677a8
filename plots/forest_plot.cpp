#include "plots/forest_plot.h"

#include "analysis/wording.h"
#include "plots/canvas.h"
#include "plots/figure_file.h"
#include "plots/gnuplot_session.h"
#include "plots/palette.h"
#include "src/output/comparison.h"
#include "src/output/comparison_cells.h"
#include "src/output/comparison_many.h"
#include "src/output/grouping.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

using analysis::Cell;
using analysis::Comparison;
using analysis::ComparisonRow;
using analysis::Outcome;
using gnuplotio::Gnuplot;

// Pixels.
constexpr int kMargin = 16;
constexpr int kHeadTop = 56;      // title and what the marks mean
constexpr int kLine = 15;         // a side
constexpr int kLevelGap = 8;      // between levels
constexpr int kEventTop = 30;     // an event's name
constexpr int kEventBottom = 44;  // tics and label
constexpr int kPlotLeft = 110;    // level, letter of the side
constexpr int kPlotWidth = 560;
constexpr int kTextWidth = 290;  // numbers beside the plot
constexpr int kWidth = kPlotLeft + kPlotWidth + kTextWidth + kMargin;
/// Cairo's images end at 32,767 pixels.
constexpr int kHighest = 32'000;

constexpr std::array kColors{kBlue, kVermillion, kGreen, kOrange, kPurple, kSkyBlue, kBlack};

const char* color_of(std::size_t side) {
  return kColors[side % kColors.size()];
}

/// Whether there are so many sides that only those that differ have a line of their own.
bool is_crowded(const Comparison& comparison) {
  return comparison.sides.size() > output::kMostSideBySide;
}

/// A line of the figure: a side's hit ratio, or that it has none; or those of all sides.
struct Line {
  std::size_t side = 0;
  const Cell* cell = nullptr;
  bool is_of_all = false;
  int y = 0;  ///< of its middle, from the panel's top
};
struct Level {
  const ComparisonRow* row = nullptr;
  std::vector<Line> lines;
};
struct Panel {
  std::string event;
  std::vector<Level> levels;
  int height = 0;  ///< of the lines alone
};

std::vector<Panel> panels_of(const Comparison& comparison) {
  std::vector<Panel> panels;
  for (const ComparisonRow& row : comparison.rows) {
    if (panels.empty() || panels.back().event != row.event) panels.push_back({row.event, {}, 0});
    Panel& panel = panels.back();
    panel.height += panel.levels.empty() ? 0 : kLevelGap;
    Level level{&row, {}};
    const auto add = [&](std::size_t side, const Cell* cell, bool is_of_all = false) {
      level.lines.push_back({side, cell, is_of_all, panel.height + kLine / 2});
      panel.height += kLine;
    };
    if (is_crowded(comparison)) {
      const Cell* baseline = row.cell_of(comparison.baseline);
      if (baseline != nullptr) add(comparison.baseline, baseline);
      const auto differing = output::by_severity(row);
      for (std::size_t i = 0; i < differing.size() && i < output::kMostTold; ++i) {
        add(differing[i]->side, differing[i]);
      }
      add(0, nullptr, true);
    } else {
      for (std::size_t side = 0; side < comparison.sides.size(); ++side) {
        add(side, row.cell_of(side));
      }
    }
    panel.levels.push_back(std::move(level));
  }
  return panels;
}

/// The sides that have a line.
std::vector<std::size_t> sides_of(const Comparison& comparison, const std::vector<Panel>& panels) {
  std::set<std::size_t> sides{comparison.baseline};
  for (const Panel& panel : panels) {
    for (const Level& level : panel.levels) {
      for (const Line& line : level.lines) {
        if (!line.is_of_all) sides.insert(line.side);
      }
    }
  }
  return {sides.begin(), sides.end()};
}

/// The part of 0 to 100% that all intervals lie in, widened to tens.
std::pair<double, double> axis_of(const Comparison& comparison) {
  double low = 1, high = 0;
  for (const ComparisonRow& row : comparison.rows) {
    for (const Cell& cell : row.cells) {
      if (!cell.hit_ratio) continue;
      low = std::min({low, cell.hit_ratio->value, cell.hit_ratio->low.value_or(1)});
      high = std::max({high, cell.hit_ratio->value, cell.hit_ratio->high.value_or(0)});
    }
  }
  if (low > high) return {0, 100};
  return {std::floor(std::max(low, 0.0) * 10) * 10,
          std::max(std::ceil(std::min(high, 1.0) * 10), 1.0) * 10};
}

bool is_judged(const Cell& cell) {
  return cell.runs.front()->basis.judgeable == analysis::Judgeable::yes;
}

std::string numbers_of(const Cell& cell) {
  if (!cell.hit_ratio) return "no judged sample";
  std::string text = analysis::percent(cell.hit_ratio->value);
  if (cell.median) {
    text += fmt::format(", median {}{}", cell.median->at_least ? "at least " : "",
                        std::round(cell.median->value * 100) / 100);
  }
  if (cell.runs.size() > 1) text += fmt::format(", {} runs", cell.runs.size());
  return text;
}

void draw_head(Canvas& canvas, const Comparison& comparison, const std::vector<std::string>& inputs,
               const std::vector<std::size_t>& sides) {
  const int room = kWidth - 2 * kMargin;
  const bool synthetic = std::any_of(comparison.sides.begin(), comparison.sides.end(),
                                     [](const auto& side) { return side.synthetic; });
  canvas.text(kMargin, 18, fmt::format("Hit ratios{}", synthetic ? " (SYNTHETIC)" : ""), room, 13,
              kBlack);
  std::string marks = "with 95% intervals; hollow: not judged; dotted: the baseline";
  if (is_crowded(comparison)) {
    marks += fmt::format("; of {} sides at most {} that differ, worse ones first, then all of them",
                         comparison.sides.size(), output::kMostTold);
  }
  canvas.text(kMargin, 38, marks, room, 9, kGrey);
  int y = kHeadTop + kLine / 2;
  for (const std::size_t i : sides) {
    const analysis::Side& side = comparison.sides[i];
    std::string text = output::letter_of(i) + "  ";
    text += side.inputs.size() == 1 ? inputs[side.inputs.front()]
                                    : fmt::format("{} inputs", side.inputs.size());
    if (i == comparison.baseline) text += " (baseline)";
    text += ": " + output::machine_text(side);
    canvas.rectangle({kMargin, y - 4, 12, 9}, color_of(i));
    canvas.text(kMargin + 18, y, text, room - 18, 9, kBlack);
    y += kLine;
  }
  // Labels and objects appear with the next plot: an empty one over the whole figure.
  canvas.gnuplot() << "unset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n";
}

using Points = std::vector<std::tuple<double, double, double, double>>;  // ratio, y, low, high

void draw_texts(Canvas& canvas, const Panel& panel, int top) {
  canvas.text(kMargin, top - kEventTop / 2, panel.event, kWidth - 2 * kMargin, 12, kBlack);
  for (const Level& level : panel.levels) {
    canvas.text(kMargin, top + level.lines.front().y, output::level_name(level.row->level),
                kPlotLeft - kMargin - 34, 10, kBlack);
    for (const Line& line : level.lines) {
      const int y = top + line.y;
      if (line.is_of_all) {
        canvas.text(kPlotLeft - 34, y, "all", 28, 9, kGrey);
        canvas.text(kPlotLeft + kPlotWidth + 14, y,
                    fmt::format("{} sides", level.row->cells.size()), kTextWidth, 8, kGrey);
        continue;
      }
      const char* const color = color_of(line.side);
      canvas.text(kPlotLeft - 34, y, output::letter_of(line.side), 28, 9, color);
      std::string text = line.cell == nullptr ? (level.row->in_baseline ? "missing" : "none")
                                              : numbers_of(*line.cell);
      if (line.cell != nullptr) {
        switch (line.cell->outcome) {
          case Outcome::worse:
          case Outcome::better:
          case Outcome::different:
          case Outcome::not_compared:
          case Outcome::too_few:
            text += fmt::format(" ({})", name_of(line.cell->outcome));
            break;
          default:
            break;
        }
      }
      // In no colour of its own: those are the sides'.
      canvas.text(kPlotLeft + kPlotWidth + 14, y, text, kTextWidth, 8,
                  line.cell == nullptr ? kGrey : kBlack);
    }
  }
}

void draw_panel(Canvas& canvas, const Comparison& comparison, const Panel& panel, int top,
                const std::pair<double, double>& axis) {
  Gnuplot& gnuplot = canvas.gnuplot();
  draw_texts(canvas, panel, top);
  canvas.margins({kPlotLeft, top, kPlotWidth, panel.height});
  const double pad = (axis.second - axis.first) * 0.02;
  gnuplot << fmt::format("set xrange [{:.3f}:{:.3f}]\nset yrange [{}:0]\n", axis.first - pad,
                         axis.second + pad, panel.height)
          << "set border 1 lc rgb '" << kGrey << "'\nunset ytics\n"
          << fmt::format("set xtics {:.0f},{:.0f} nomirror scale 0.5 textcolor rgb '{}'\n",
                         axis.first, axis.second - axis.first > 40 ? 20.0 : 5.0, kBlack)
          << "set format x '%g%%'\nset grid xtics lt 1 lc rgb '#E4E4E4'\nset xlabel 'hit ratio'\n";
  std::map<std::pair<std::string, bool>, Points> points;
  std::vector<std::pair<double, double>> all;  // ratio, y
  for (const Level& level : panel.levels) {
    const Cell* baseline = level.row->cell_of(comparison.baseline);
    if (baseline != nullptr && baseline->hit_ratio) {
      const double x = baseline->hit_ratio->value * 100;
      gnuplot << fmt::format(
          "set arrow from {:.5f}, {} to {:.5f}, {} nohead back dt 3 lc rgb '{}'\n", x,
          level.lines.front().y - kLine / 2, x, level.lines.back().y + kLine / 2, kGrey);
    }
    for (const Line& line : level.lines) {
      for (const Cell& cell : level.row->cells) {
        if (!line.is_of_all || !cell.hit_ratio) continue;
        all.emplace_back(100 * std::clamp(cell.hit_ratio->value, 0.0, 1.0), line.y);
      }
      if (line.cell == nullptr || !line.cell->hit_ratio) continue;
      const analysis::Estimate& ratio = *line.cell->hit_ratio;
      const auto percent = [](double share) { return 100 * std::clamp(share, 0.0, 1.0); };
      points[{color_of(line.side), is_judged(*line.cell)}].emplace_back(
          percent(ratio.value), line.y, percent(ratio.low.value_or(ratio.value)),
          percent(ratio.high.value_or(ratio.value)));
    }
  }
  std::string plots = "plot -1 notitle";  // beside points, so that there is always something
  for (const auto& [style, ignored] : points) {
    plots +=
        fmt::format(", '-' using 1:2:3:4 with xerrorbars pt {} ps 0.9 lw 1.5 lc rgb '{}' notitle",
                    style.second ? 7 : 6, style.first);
  }
  if (!all.empty()) {
    // Crosses: a hollow mark is one that is not judged.
    plots += fmt::format(", '-' using 1:2 with points pt 2 ps 0.5 lw 1 lc rgb '{}' notitle", kGrey);
  }
  gnuplot << plots << '\n';
  for (const auto& [ignored, list] : points) gnuplot.send1d(list);
  if (!all.empty()) gnuplot.send1d(all);
  canvas.forget_texts();
}

}  // namespace

void plot_forest(const Comparison& comparison, const std::vector<std::string>& inputs,
                 const std::filesystem::path& file) {
  check_plot_file(file);
  const auto too_high = [&]() {
    throw Error(fmt::format("figure: {} rows of {} sides do not fit; draw fewer",
                            comparison.rows.size(), comparison.sides.size()));
  };
  // Looked at before it becomes pixels, so that no number of measurements overflows them.
  const std::size_t most_lines =
      is_crowded(comparison) ? output::kMostTold + 2 : comparison.sides.size();
  if (comparison.rows.size() > static_cast<std::size_t>(kHighest / kLine) / most_lines) too_high();
  const std::vector<Panel> panels = panels_of(comparison);
  const std::vector<std::size_t> sides = sides_of(comparison, panels);
  if (sides.size() > static_cast<std::size_t>(kHighest / kLine)) too_high();
  const int head = kHeadTop + static_cast<int>(sides.size()) * kLine + 8;
  int height = head;
  for (const Panel& panel : panels) height += kEventTop + panel.height + kEventBottom;
  if (height > kHighest) too_high();

  const std::pair<double, double> axis = axis_of(comparison);
  const std::string figure = draw(terminal_for(file, kWidth, height), [&](Gnuplot& gnuplot) {
    Canvas canvas(gnuplot, kWidth, height);
    gnuplot << "set tics out font ',8'\nset xlabel font ',9' offset 0,0.4\nunset key\n"
               "set bars 0.5\nset multiplot\n";
    draw_head(canvas, comparison, inputs, sides);
    canvas.margins({0, 0, kWidth, height});
    gnuplot << "plot -1 notitle\n";
    canvas.forget_texts();
    int top = head;
    for (const Panel& panel : panels) {
      draw_panel(canvas, comparison, panel, top + kEventTop, axis);
      top += kEventTop + panel.height + kEventBottom;
    }
    gnuplot << "unset multiplot\n";
  });
  write_file_atomically(file, figure);
}

}  // namespace skid::plots
