#include "plots/cdf_plot.h"

#include "plots/cumulative.h"
#include "plots/figure_blocks.h"
#include "plots/figure_text.h"
#include "plots/offset_panel.h"
#include "plots/palette.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

using analysis::Measurement;
using output::Column;

using Points = std::vector<std::pair<double, double>>;  // offset, per cent

/// A curve from the axis's left end on, and its part where all that is known of a sample is that it
/// came no earlier.
struct Curve {
  Points known, censored;
  std::uint64_t beyond = 0;
};

Curve curve_of(const Measurement& m, const OffsetAxis& axis) {
  Curve curve;
  const std::vector<Step> steps = cumulative_shares(m);
  if (steps.empty()) return curve;
  const auto end = static_cast<double>(axis.highest) + 0.5;
  const std::int64_t censored_from =
      m.censored_from.value_or(std::numeric_limits<std::int64_t>::max());
  // Of more steps than any screen has pixels those that are apart; each is the sum up to itself.
  constexpr std::int64_t kMostSteps = 20'000;
  const std::int64_t apart = (axis.highest - axis.lowest) / kMostSteps;
  double height = 0;
  std::vector<Step> inside;
  const Step* left_out = nullptr;
  for (const Step& step : steps) {
    if (step.offset < axis.lowest) {
      height = step.share * 100;
    } else if (step.offset <= axis.highest) {
      const bool drawn = inside.empty() || step.offset - inside.back().offset >= apart;
      if (drawn) inside.push_back(step);
      left_out = drawn ? nullptr : &step;
    }
  }
  if (left_out != nullptr) inside.push_back(*left_out);
  curve.known.emplace_back(static_cast<double>(axis.lowest) - 0.5, height);
  for (const Step& step : inside) {
    const auto x = static_cast<double>(step.offset);
    if (step.offset >= censored_from && curve.censored.empty()) {
      curve.known.emplace_back(static_cast<double>(censored_from), height);
      curve.censored.emplace_back(static_cast<double>(censored_from), height);
    }
    height = step.share * 100;
    (curve.censored.empty() ? curve.known : curve.censored).emplace_back(x, height);
  }
  (curve.censored.empty() ? curve.known : curve.censored).emplace_back(end, height);
  curve.beyond = bars_of(m, axis).beyond;
  return curve;
}

/// Short, so that it fits beside others: hits are the step at 0.
std::string cdf_caption(const Column& column, std::uint64_t beyond) {
  const Measurement& m = *column.measurement;
  std::string text = fmt::format("{}:  {}", column.label, samples_text(m));
  const std::uint64_t censored = m.samples[analysis::SampleClass::censored];
  if (m.samples.located() == 0) text += ", none located";
  if (censored > 0) text += fmt::format(", {} censored", censored);
  if (beyond > 0) text += fmt::format(", {} beyond", beyond);
  if (m.synthetic) text += ", synthetic";
  return text;
}

void draw_curves(Canvas& canvas, const Layout& layout, const Block& block, Area area) {
  std::string plots;
  std::vector<Points> data;
  std::map<std::int64_t, const char*> ends;
  std::map<int, int> seen;  // by level
  const auto plot = [&](const Points& points, double width, const char* color,
                        const std::string& dashes) {
    if (points.empty()) return;
    plots += fmt::format("{} '-' using 1:2 with steps lw {} dt {} lc rgb '{}' notitle",
                         plots.empty() ? "plot" : ",", width, dashes, color);
    data.push_back(points);
  };
  for (const Column& column : block.event->columns) {
    const Curve curve = curve_of(*column.measurement, block.axis);
    LineStyle style = line_style_of(column.level);
    style.width = std::max(1.2, 0.85 * style.width);
    // Several of a level differ in their dashes.
    style.dashes = dashes_of(seen[column.level]++, style.width);
    plot(curve.known, style.width, style.color, style.dashes);
    plot(curve.censored, style.width / 2, style.color, "3");
    // Of several triggers that of the shortest runway: behind others skids go on.
    if (!curve.censored.empty()) {
      auto& end = ends[*column.measurement->censored_from];
      const bool partly = !column.measurement->triggers.empty();
      if (partly || end == nullptr) end = partly ? "partly censored" : "censored";
    }
    draw_line_caption(canvas, area, area.top + kCaption / 2, style,
                      cdf_caption(column, curve.beyond));
    area.top += kCaption;
  }
  area.height = layout.plot_height;
  begin_offset_panel(canvas, area, block.axis, true);
  gnuplotio::Gnuplot& gnuplot = canvas.gnuplot();
  gnuplot << "set yrange [-2:102]\nset ytics 20 nomirror scale 0.5\nset format y '%.0f%%'\n"
             "set ylabel 'located samples up to here'\n";
  for (const auto& [end, what] : ends) {
    gnuplot << fmt::format(
        "set arrow from {0}, graph 0 to {0}, graph 1 nohead back dt 4 lc rgb '{1}'\n"
        "set label '{2}' at {0}, graph 0.06 {3},0 font ',8' tc rgb '{1}'\n",
        end, kVermillion, what,
        2 * end > block.axis.lowest + block.axis.highest ? "right offset -0.5" : "left offset 0.5");
  }
  if (plots.empty()) {
    say_nothing_located(canvas);
  } else {
    gnuplot << plots << '\n';
    for (const Points& points : data) gnuplot.send1d(points);
  }
  canvas.forget_texts();
}

}  // namespace

Drawing draw_cumulative(const std::vector<output::MachineGroup>& machines) {
  std::vector<Block> blocks = blocks_of(machines);
  const Layout layout = lay_out(blocks, Arrangement::overlaid);
  for (Block& block : blocks) {
    block.axis = choose_axis(block.event->columns, layout.plot_width);
    block.axis.width = 1;  // its ends stay: curves have no bins
  }
  return draw_blocks(machines, blocks, layout, {title_of("How far samples land", machines), {}},
                     [&](Canvas& canvas, const Block& block, const Area& area) {
                       draw_curves(canvas, layout, block, area);
                     });
}

}  // namespace skid::plots
