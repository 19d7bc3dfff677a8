// A panel whose x axis is the offset from the trigger.
#pragma once

#include "plots/canvas.h"
#include "plots/figure_bins.h"
#include "src/output/report/grouping.h"

#include <cstdint>
#include <string>

namespace skid::plots {

/// Frame and x axis of the next plot, with a line at the trigger. `labelled`: this panel shows the
/// axis's numbers and name, which those above it share.
void begin_offset_panel(Canvas& canvas, const Area& area, const OffsetAxis& axis, bool labelled);

/// Instead of a plot where there is nothing to show.
void say_nothing_located(Canvas& canvas);

/// "pp:  5101 samples, period 7, hits 0%", and how many of them lie `beyond` the axis.
std::string caption(const output::Column& column, std::uint64_t beyond);

/// Of a caption above `area`: smaller where the panel is narrow, so that nothing is cut.
int caption_points(const Area& area);

struct LineStyle {
  const char* color;
  double width;
  std::string dashes = "1";  ///< gnuplot's dash type; 1: none
};

/// Lower levels get wider lines, so that a higher one on top leaves them to be seen.
LineStyle line_style_of(int level);

/// The dash type of the n-th of several lines of `width`, in pixels whatever the width; of the
/// first none. There are five, then they come again.
std::string dashes_of(int n, double width);

/// The caption of a line in front of which stands a piece of it; its middle at y.
void draw_line_caption(Canvas& canvas, const Area& area, int y, const LineStyle& style,
                       const std::string& text);

}  // namespace skid::plots
