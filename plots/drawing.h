// A figure as parts of a gnuplot program, which gnuplot lays out and draws.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::plots {

struct FigureOptions;

/// The smallest of 1, 2, 5, 10, 20, 50, … that is at least `value`.
std::int64_t round_up_nicely(double value);

/// What a figure is drawn on. Lengths are pixels of 1/96 inch.
struct Paper {
  double width = 0;
  std::optional<double> height;  ///< nullopt: as much as the figure needs
  std::string font = {};
  double points = 9;       ///< size of the font
  bool caption = true;     ///< with a title, machines and numbers of samples
  bool on_page = false;    ///< in a page, which has title and machines, but explains no marks
  bool all_fonts = false;  ///< the reader's fonts, as for an SVG: they have all of Unicode

  /// Whether there is no room for long texts.
  bool is_narrow() const { return width < 480; }
  /// Pixels of so many characters.
  double width_of(double characters) const;
  /// `text`, drawable(), in so many pixels; what is cut off has an ellipsis.
  std::string fitted(std::string_view text, double pixels) const;
  /// `text` as strings of gnuplot without any expansion, joined where it has several lines: see
  /// gnuplot_string(). Each line is fitted() into so many pixels.
  std::string quoted(std::string_view text,
                     double pixels = std::numeric_limits<double>::infinity()) const;
};

using Rows = std::vector<std::vector<double>>;

/// Data and how they are plotted: "$d using 1:2 with lines ls 3", where $d are the data.
struct Series {
  std::string plot;
  Rows rows;
};

/// A plot with its axes; without marks and series an empty place.
struct Panel {
  std::string title = {};   ///< may have several lines
  std::string remark = {};  ///< ", bins of 20": follows the event where a grid names it
  /// The same settings in the same order in all panels of a figure; equal ones are set once.
  std::vector<std::string> commands = {};
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
  std::string note = {};               ///< below them: what the marks mean; on a page without them
  std::vector<Key> keys = {};
  std::vector<std::string> commands = {};  ///< of all panels
  std::vector<Panel> panels = {};          ///< row by row
  std::size_t columns = 1;
  std::string x_label = {}, y_label = {};     ///< of all panels
  double plot_lines = 16;                     ///< height of a plot in lines of text
  double least_lines = 3;                     ///< where the paper has a height
  double left_margin = 11, right_margin = 2;  ///< of a plot, in characters
};

/// The figure's size and font, for a figure that is `width` pixels wide unless `options` say so.
Paper paper_of(const FigureOptions& options, double width);

/// Writes the files that `options` name, each complete or not at all. Throws as draw_figure() does.
void write_figure(const Figure& figure, const FigureOptions& options);

/// For svg_of() of figure.h.
std::string svg_of(const Figure& figure, const FigureOptions& options);

}  // namespace skid::plots
