#include "plots/offset_panel.h"

#include "analysis/wording.h"
#include "plots/figure_layout.h"
#include "plots/figure_text.h"
#include "plots/gnuplot_session.h"
#include "plots/palette.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

std::string x_label(const OffsetAxis& axis) {
  if (axis.width == 1) return "offset from trigger (instructions)";
  return fmt::format("offset from trigger (instructions), bins of {}", axis.width);
}

}  // namespace

void begin_offset_panel(Canvas& canvas, const Area& area, const OffsetAxis& axis, bool labelled) {
  canvas.margins(area);
  const double span = static_cast<double>(axis.highest - axis.lowest + 1);
  canvas.gnuplot() << fmt::format("set xrange [{:.3f}:{:.3f}]\n",
                                  static_cast<double>(axis.lowest) - 0.5 - 0.015 * span,
                                  static_cast<double>(axis.highest) + 0.5 + 0.015 * span)
                   << fmt::format("set xtics {} nomirror scale 0.5\n",
                                  round_up_nicely(span * 60.0 / area.width))
                   << "set format x " << (labelled ? "'%.0f'" : "''") << "\nset xlabel "
                   << gnuplot_string(labelled ? x_label(axis) : "") << '\n'
                   << "set arrow from 0, graph 0 to 0, graph 1 nohead back dt 3 lc rgb '" << kGrey
                   << "'\n";
}

void say_nothing_located(Canvas& canvas) {
  canvas.gnuplot() << "unset logscale\nunset arrow\nunset ytics\n"
                      "set label 'no located samples' at graph 0.5, graph 0.5 center tc rgb '"
                   << kGrey << "' front\nplot -1e9 notitle\n";
}

std::string caption(const output::Column& column, std::uint64_t beyond) {
  const analysis::Measurement& m = *column.measurement;
  std::string text = fmt::format("{}:  {}", column.label, samples_text(m));
  if (m.hit_ratio.total > 0) text += ", hits " + analysis::percent(m.hit_ratio.value);
  if (beyond > 0) text += fmt::format(", {} beyond the axis", beyond);
  if (m.synthetic) text += ", synthetic";
  return text;
}

int caption_points(const Area& area) {
  constexpr int kNarrow = 500;
  return area.width < kNarrow ? 8 : 9;
}

LineStyle line_style_of(int level) {
  switch (level) {
    case 0:
      return {kBlack, 7.0};
    case 1:
      return {kOrange, 5.0};
    case 2:
      return {kSkyBlue, 3.0};
    case 3:
      return {kVermillion, 1.2};
    default:
      return {kGrey, 1.2};
  }
}

std::string dashes_of(int n, double width) {
  // gnuplot multiplies them by the width, and takes about a third of a pixel for one.
  constexpr std::array<std::array<double, 4>, 5> kDashes{
      {{}, {12, 4, 12, 4}, {4, 4, 4, 4}, {16, 4, 4, 4}, {24, 6, 24, 6}}};
  const std::size_t kind = static_cast<std::size_t>(n) % kDashes.size();
  if (kind == 0) return "1";
  const auto& dashes = kDashes[kind];
  const double unit = 3 / width;
  return fmt::format("({:.2f},{:.2f},{:.2f},{:.2f})", dashes[0] * unit, dashes[1] * unit,
                     dashes[2] * unit, dashes[3] * unit);
}

void draw_line_caption(Canvas& canvas, const Area& area, int y, const LineStyle& style,
                       const std::string& text) {
  constexpr int kSample = 32;
  canvas.line(area.left, y, kSample, style.color, style.width, style.dashes);
  canvas.text(area.left + kSample + 6, y, text, area.width + kRight - kSample - 6,
              caption_points(area), kBlack);
}

}  // namespace skid::plots
