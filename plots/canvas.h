// Commands to gnuplot in pixels from the figure's upper left corner.
#pragma once

#include "plots/figure_layout.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace gnuplotio {
class Gnuplot;
}

namespace skid::plots {

/// gnuplot counts in shares of the figure, upwards. Texts and rectangles appear with the next plot.
class Canvas {
 public:
  /// Both must outlive the canvas.
  Canvas(gnuplotio::Gnuplot& gnuplot, const Layout& layout) : gnuplot_(gnuplot), layout_(layout) {}

  gnuplotio::Gnuplot& gnuplot() { return gnuplot_; }

  /// `text` from x on, its middle at y, in a font of `points`, cut to `room` pixels.
  void text(int x, int y, std::string_view text, int room, int points, const char* color);
  void rectangle(const Area& area, const char* color);
  /// The next plots fill `area`.
  void margins(const Area& area);
  void forget_texts();

 private:
  std::string at(int x, int y) const;

  gnuplotio::Gnuplot& gnuplot_;
  const Layout& layout_;
};

/// Pixels that a text of so many characters takes at most, in a font of `points`.
double text_width(std::size_t characters, int points);

}  // namespace skid::plots
