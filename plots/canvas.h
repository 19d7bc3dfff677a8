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

/// How an area is filled. Patterns tell classes apart where colours look alike, as in print.
struct Fill {
  static constexpr int kDashes = -1;  ///< of a legend alone: a dashed line

  const char* color = "";
  int pattern = 0;  ///< gnuplot's number; 0: solid
};

/// Behind `with boxxyerror` and the like: colour and fill style.
std::string style_of(const Fill& fill);

/// gnuplot counts in shares of the figure, upwards. Texts and rectangles appear with the next plot.
class Canvas {
 public:
  /// A figure of so many pixels. `gnuplot` must outlive the canvas.
  Canvas(gnuplotio::Gnuplot& gnuplot, int width, int height)
      : gnuplot_(gnuplot), width_(width), height_(height) {}

  gnuplotio::Gnuplot& gnuplot() { return gnuplot_; }

  /// `text` from x on, its middle at y, in a font of `points`, cut to `room` pixels.
  void text(int x, int y, std::string_view text, int room, int points, const char* color);
  void rectangle(const Area& area, const Fill& fill);
  /// From x on, `length` pixels to the right. `dashes`: gnuplot's dash type, 1 for none.
  void line(int x, int y, int length, const char* color, double width, int dashes);
  /// The next plots fill `area`.
  void margins(const Area& area);
  /// Where the scale of colours of the next plot stands.
  void color_box(const Area& area);
  void forget_texts();

 private:
  std::string at(int x, int y) const;

  gnuplotio::Gnuplot& gnuplot_;
  int width_, height_;
};

/// Pixels that a text of so many characters takes at most, in a font of `points`.
double text_width(std::size_t characters, int points);

}  // namespace skid::plots
