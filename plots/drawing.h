// A figure as parts of a gnuplot program, which gnuplot lays out and draws.
#pragma once

#include "plots/figure.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::plots {

/// The smallest of 1, 2, 5, 10, 20, 50, … that is at least `value`.
std::int64_t round_up_nicely(double value);

/// What a figure is drawn on. Lengths are pixels of 1/96 inch.
struct Paper {
  double width = 0;
  std::optional<double> height;  ///< nullopt: as much as the figure needs
  std::string font = {};
  double points = 9;       ///< size of the font
  bool caption = true;     ///< with a title, machines and numbers of samples
  bool all_fonts = false;  ///< the reader's fonts, as for an SVG: they have all of Unicode

  /// Whether there is no room for long texts.
  bool is_narrow() const { return width < 480; }
  double line_height() const { return 1.6 * points; }
  /// Pixels of so many characters.
  double width_of(double characters) const;
  /// Characters of a line of text of so many pixels.
  std::size_t characters_in(double pixels) const;
  /// `text`, drawable(), in so many pixels; what is cut off has an ellipsis.
  std::string fitted(std::string_view text, double pixels) const;
  /// `text` as strings of gnuplot without any expansion, joined where it has several lines: see
  /// gnuplot_string().
  std::string quoted(std::string_view text) const;
};

/// `width`: where `options` have none, in pixels.
Paper paper_of(const FigureOptions& options, double width);

using Rows = std::vector<std::vector<double>>;

/// Data and how they are plotted: "using 1:2 with lines ls 3".
struct Series {
  std::string style;
  Rows rows;
};

/// A plot with its axes.
struct Panel {
  std::string title = {};  ///< may have several lines
  /// The same settings in the same order in all panels of a figure; equal ones are set once.
  std::vector<std::string> commands = {};
  /// Of a vertical axis of whole numbers, for its tics.
  std::optional<double> highest_count = {};
  std::string x_label = {};             ///< empty: the figure's
  std::vector<std::string> marks = {};  ///< labels and arrows, of this panel alone
  std::vector<Series> series = {};
};

/// An entry of the legend.
struct Key {
  std::string style;  ///< "with boxes ls 2"
  std::string name;
};

struct Figure {
  Paper paper;
  std::string title = {};
  std::vector<std::string> head = {};  ///< paragraphs below the title
  std::vector<Key> keys = {};
  bool long_keys = false;                         ///< one below the other
  std::vector<std::string> commands = {};         ///< of all panels
  std::vector<std::optional<Panel>> panels = {};  ///< row by row; nullopt: an empty place
  std::size_t columns = 1;
  std::string x_label = {}, y_label = {};  ///< of the lowest and of the leftmost panels
  double plot_lines = 16;                  ///< height of a plot in lines of text
};

/// Writes the files that `options` name, each complete or not at all. Throws as draw_figure() does.
void write_figure(const Figure& figure, const FigureOptions& options);

/// For svg_of() of figure.h.
std::string svg_of(const Figure& figure, const FigureOptions& options);

}  // namespace skid::plots
