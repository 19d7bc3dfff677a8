#include "plots/canvas.h"

#include "plots/characters.h"
#include "plots/gnuplot_session.h"
#include "src/output/escape.h"

#include <algorithm>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

/// Of a proportional font, on the wide side, for a font of one point.
constexpr double kCharacterWidth = 0.78;

}  // namespace

std::string style_of(const Fill& fill) {
  if (fill.pattern == 0) return fmt::format("fc rgb '{}' fs solid 1.0 noborder", fill.color);
  return fmt::format("fc rgb '{0}' fs pattern {1} border lc rgb '{0}'", fill.color, fill.pattern);
}

std::string Canvas::at(int x, int y) const {
  return fmt::format("screen {:.6f}, screen {:.6f}", static_cast<double>(x) / width_,
                     1.0 - static_cast<double>(y) / height_);
}

void Canvas::text(int x, int y, std::string_view text, int room, int points, const char* color) {
  const auto characters =
      static_cast<std::size_t>(std::max(1.0, room / (kCharacterWidth * points)));
  const std::string shown = output::shorten(drawable(text, Fonts::of_viewers), characters);
  gnuplot_ << "set label " << gnuplot_string(shown) << " at " << at(x, y) << " left font ',"
           << points << "' tc rgb '" << color << "' noenhanced front\n";
}

void Canvas::rectangle(const Area& area, const Fill& fill) {
  if (fill.pattern == Fill::kDashes) {
    line(area.left, area.top + area.height / 2, area.width, fill.color, 1.5, "2");
    return;
  }
  gnuplot_ << "set object rectangle from " << at(area.left, area.top + area.height) << " to "
           << at(area.left + area.width, area.top) << ' ' << style_of(fill) << " front\n";
}

void Canvas::line(int x, int y, int length, const char* color, double width,
                  std::string_view dashes) {
  gnuplot_ << "set arrow from " << at(x, y) << " to " << at(x + length, y)
           << fmt::format(" nohead lw {} dt {} lc rgb '{}' front\n", width, dashes, color);
}

void Canvas::margins(const Area& area) {
  const auto x = [this](int pixels) { return static_cast<double>(pixels) / width_; };
  const auto y = [this](int pixels) { return 1.0 - static_cast<double>(pixels) / height_; };
  gnuplot_ << fmt::format(
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
      "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\n",
      x(area.left), x(area.left + area.width), y(area.top), y(area.top + area.height));
}

void Canvas::color_box(const Area& area) {
  gnuplot_ << "set colorbox horizontal user origin " << at(area.left, area.top + area.height)
           << fmt::format(" size screen {:.6f}, screen {:.6f} front border\n",
                          static_cast<double>(area.width) / width_,
                          static_cast<double>(area.height) / height_);
}

void Canvas::forget_texts() {
  gnuplot_ << "unset label\nunset object\nunset arrow\n";
}

double text_width(std::size_t characters, int points) {
  return kCharacterWidth * points * static_cast<double>(characters);
}

}  // namespace skid::plots
