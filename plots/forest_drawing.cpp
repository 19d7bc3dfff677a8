#include "plots/forest_drawing.h"

#include "plots/canvas.h"
#include "plots/figure_layout.h"
#include "plots/palette.h"
#include "src/output/escape.h"
#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

using gnuplotio::Gnuplot;

// Pixels.
constexpr int kMargin = 16;
constexpr int kHeadTop = 56;      // title and what the marks mean
constexpr int kLine = 15;         // a side
constexpr int kLevelGap = 8;      // between levels
constexpr int kEventTop = 30;     // an event's name
constexpr int kEventBottom = 44;  // tics and label
constexpr int kLevelWidth = 60;
constexpr int kNarrowestNames = 28;  // a letter
constexpr int kWidestNames = 110;
constexpr int kPlotWidth = 560;
constexpr int kNarrowestTexts = 290;  // numbers beside the plot
constexpr int kWidestTexts = 520;

constexpr std::array kColors{kBlue, kVermillion, kGreen, kOrange, kPurple, kSkyBlue, kBlack};

int height_of(const ForestPanel& panel) {
  int height = 0;
  for (const ForestLevel& level : panel.levels) {
    height += static_cast<int>(level.lines.size()) * kLine + (height > 0 ? kLevelGap : 0);
  }
  return height;
}

/// Calls `each` with every line, its level and the y of its middle from the panel's top.
template <typename Each>
void for_lines(const ForestPanel& panel, Each each) {
  int y = 0;
  for (const ForestLevel& level : panel.levels) {
    if (y > 0) y += kLevelGap;
    for (const ForestLine& line : level.lines) {
      each(level, line, y + kLine / 2);
      y += kLine;
    }
  }
}

/// The part of 0 to 100% that all intervals lie in, widened to tens.
std::pair<double, double> axis_of(const Forest& forest) {
  double low = 1, high = 0;
  for (const ForestPanel& panel : forest.panels) {
    for_lines(panel, [&](const ForestLevel&, const ForestLine& line, int) {
      for (const double ratio : line.all) {
        low = std::min(low, ratio);
        high = std::max(high, ratio);
      }
      if (!line.ratio) return;
      low = std::min({low, line.ratio->value, line.ratio->low.value_or(1)});
      high = std::max({high, line.ratio->value, line.ratio->high.value_or(0)});
    });
  }
  if (low > high) return {0, 100};
  return {std::floor(std::max(low, 0.0) * 10) * 10,
          std::max(std::ceil(std::min(high, 1.0) * 10), 1.0) * 10};
}

struct ForestLayout {
  int names = kNarrowestNames;
  int texts = kNarrowestTexts;
  int plot_left = 0;
  int head = 0;
  int width = 0, height = 0;
};

ForestLayout lay_out_forest(const Forest& forest) {
  std::size_t lines = forest.key.size(), longest = 0, longest_text = 0;
  for (const ForestPanel& panel : forest.panels) {
    for_lines(panel, [&](const ForestLevel&, const ForestLine& line, int) {
      ++lines;
      longest = std::max(longest, output::display_width(line.name));
      longest_text = std::max(longest_text, output::display_width(line.text));
    });
    // Looked at line by line, so that no number of measurements overflows the pixels.
    if (lines > static_cast<std::size_t>(kLongestSide / kLine)) break;
  }
  long long height = static_cast<long long>(lines) * kLine;
  ForestLayout layout;
  if (height <= kLongestSide) {
    layout.head = kHeadTop + static_cast<int>(forest.key.size()) * kLine + 8;
    height = layout.head;
    for (const ForestPanel& panel : forest.panels) {
      height += kEventTop + height_of(panel) + kEventBottom;
    }
  }
  if (height > kLongestSide) {
    throw Error(fmt::format("figure: the hit ratios of {} events do not fit; draw fewer",
                            forest.panels.size()));
  }
  layout.names =
      std::clamp(static_cast<int>(text_width(longest, 9)) + 6, kNarrowestNames, kWidestNames);
  layout.texts =
      std::clamp(static_cast<int>(text_width(longest_text, 8)) + 8, kNarrowestTexts, kWidestTexts);
  layout.plot_left = kMargin + kLevelWidth + layout.names + 6;
  layout.width = layout.plot_left + kPlotWidth + layout.texts + kMargin;
  layout.height = static_cast<int>(height);
  return layout;
}

void draw_head(Canvas& canvas, const Forest& forest, const ForestLayout& layout) {
  const int room = layout.width - 2 * kMargin;
  canvas.text(kMargin, 18, forest.title, room, 13, kBlack);
  canvas.text(kMargin, 38, forest.marks, room, 9, kGrey);
  int y = kHeadTop + kLine / 2;
  for (const auto& [color, text] : forest.key) {
    if (color != nullptr) canvas.rectangle({kMargin, y - 4, 12, 9}, {color});
    canvas.text(kMargin + 18, y, text, room - 18, 9, kBlack);
    y += kLine;
  }
  // Labels and objects appear with the next plot: an empty one over the whole figure.
  canvas.margins({0, 0, layout.width, layout.height});
  canvas.gnuplot() << "unset border\nunset tics\nset xrange [0:1]\nset yrange [0:1]\n"
                      "plot -1 notitle\n";
  canvas.forget_texts();
}

void draw_texts(Canvas& canvas, const ForestPanel& panel, const ForestLayout& layout, int top) {
  canvas.text(kMargin, top - kEventTop / 2, panel.event, layout.width - 2 * kMargin, 12, kBlack);
  for_lines(panel, [&](const ForestLevel& level, const ForestLine& line, int y) {
    if (&line == &level.lines.front()) {
      canvas.text(kMargin, top + y, level.name, kLevelWidth, 10, kBlack);
    }
    canvas.text(layout.plot_left - layout.names - 6, top + y, line.name, layout.names, 9,
                line.all.empty() ? line.color : kGrey);
    // In no colour of its own: those are the sides'.
    canvas.text(layout.plot_left + kPlotWidth + 14, top + y, line.text, layout.texts, 8,
                line.grey ? kGrey : kBlack);
  });
}

using Points = std::vector<std::tuple<double, double, double, double>>;  // ratio, y, low, high

void draw_panel(Canvas& canvas, const ForestPanel& panel, const ForestLayout& layout, int top,
                const std::pair<double, double>& axis) {
  Gnuplot& gnuplot = canvas.gnuplot();
  draw_texts(canvas, panel, layout, top);
  const int height = height_of(panel);
  canvas.margins({layout.plot_left, top, kPlotWidth, height});
  const double pad = (axis.second - axis.first) * 0.02;
  gnuplot << fmt::format("set xrange [{:.3f}:{:.3f}]\nset yrange [{}:0]\n", axis.first - pad,
                         axis.second + pad, height)
          << "set border 1 lc rgb '" << kGrey << "'\nunset ytics\n"
          << fmt::format("set xtics {:.0f},{:.0f} nomirror scale 0.5 textcolor rgb '{}'\n",
                         axis.first, axis.second - axis.first > 40 ? 20.0 : 5.0, kBlack)
          << "set format x '%g%%'\nset grid xtics lt 1 lc rgb '#E4E4E4'\nset xlabel 'hit ratio'\n";
  std::map<std::pair<std::string, bool>, Points> points;
  std::vector<std::pair<double, double>> all;  // ratio, y
  const auto percent = [](double share) { return 100 * std::clamp(share, 0.0, 1.0); };
  for_lines(panel, [&](const ForestLevel& level, const ForestLine& line, int y) {
    if (level.baseline && &line == &level.lines.front()) {
      const double x = *level.baseline * 100;
      const int last = y + static_cast<int>(level.lines.size() - 1) * kLine;
      gnuplot << fmt::format(
          "set arrow from {:.5f}, {} to {:.5f}, {} nohead back dt 3 lc rgb '{}'\n", x,
          y - kLine / 2, x, last + kLine / 2, kGrey);
    }
    for (const double ratio : line.all) all.emplace_back(percent(ratio), y);
    if (!line.ratio) return;
    points[{line.color, line.judged}].emplace_back(
        percent(line.ratio->value), y, percent(line.ratio->low.value_or(line.ratio->value)),
        percent(line.ratio->high.value_or(line.ratio->value)));
  });
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

const char* forest_color(std::size_t side) {
  return kColors[side % kColors.size()];
}

Drawing draw_forest(const Forest& forest) {
  const ForestLayout layout = lay_out_forest(forest);
  const std::pair<double, double> axis = axis_of(forest);
  const auto write = [&](Gnuplot& gnuplot) {
    Canvas canvas(gnuplot, layout.width, layout.height);
    gnuplot << "set tics out font ',8'\nset xlabel font ',9' offset 0,0.4\nunset key\n"
               "set bars 0.5\nset multiplot\n";
    draw_head(canvas, forest, layout);
    int top = layout.head;
    for (const ForestPanel& panel : forest.panels) {
      draw_panel(canvas, panel, layout, top + kEventTop, axis);
      top += kEventTop + height_of(panel) + kEventBottom;
    }
    gnuplot << "unset multiplot\n";
  };
  return {layout.width, layout.height, record(write)};
}

}  // namespace skid::plots
