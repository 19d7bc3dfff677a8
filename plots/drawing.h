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

/// Returns the smallest of 1, 2, 5, 10, 20, 50, … that is at least `value`.
std::int64_t round_up_nicely(double value);

/// The size and font of a figure. Lengths are pixels of 1/96 inch.
struct Paper {
  double width = 0;
  std::optional<double> height;  ///< nullopt: as much as the figure needs
  std::string font = {};
  double points = 9;       ///< size of the font
  bool caption = true;     ///< true for a title, machines and numbers of samples
  bool on_page = false;    ///< true in a page, which has title and machines, but explains no marks
  bool all_fonts = false;  ///< true for the reader's fonts, as in an SVG: they have all of Unicode

  /// Whether there is no room for long texts.
  bool is_narrow() const { return width < 480; }
  /// Returns the width of a number of characters, in pixels.
  double width_of(double characters) const;
  /// Returns `text`, drawable() and cut to a number of pixels. A text that is cut ends with an
  /// ellipsis.
  std::string fitted(std::string_view text, double pixels) const;
  /// Returns `text` as a gnuplot_string(), which gnuplot does not expand; several lines are joined
  /// strings. Each line is fitted() into a number of pixels.
  std::string quoted(std::string_view text,
                     double pixels = std::numeric_limits<double>::infinity()) const;
};

using Rows = std::vector<std::vector<double>>;

/// Data and how they are plotted: "$d using 1:2 with lines ls 3", where $d are the data.
struct Series {
  std::string plot;
  Rows rows;
};

/// A plot with its axes. A panel without marks and series is an empty place.
struct Panel {
  std::string title = {};   ///< may have several lines
  std::string remark = {};  ///< ", bins of 20": follows the event where a grid names it
  /// Settings of gnuplot. All panels of a figure have the same ones in the same order; those that
  /// are equal to the previous panel's are not sent again.
  std::vector<std::string> commands = {};
  std::vector<std::string> marks = {};  ///< labels and arrows of this panel alone
  std::vector<Series> series = {};
};

/// An entry of the legend.
struct Key {
  std::string style;  ///< "with boxes ls 2"
  std::string name;
};

struct Figure {
  Paper paper;
  std::string title = {};              ///< ends with `mark`
  std::string mark = {};               ///< " (EMULATED)": what made the samples, if no CPU
  std::vector<std::string> head = {};  ///< paragraphs below the title
  std::string note = {};               ///< meaning of the marks, a paragraph below the head
  std::vector<Key> keys = {};
  std::vector<std::string> commands = {};  ///< settings for all panels
  std::vector<Panel> panels = {};          ///< panels, row by row
  std::size_t columns = 1;
  std::string x_label = {}, y_label = {};     ///< labels for all panels
  double plot_lines = 16;                     ///< height of a plot in lines of text
  double least_lines = 3;                     ///< least height if the paper has a height
  double left_margin = 11, right_margin = 2;  ///< margins of a plot, in characters
};

/// Returns size and font of a figure that is `width` pixels wide unless `options` have a width.
Paper paper_of(const FigureOptions& options, double width);

/// Writes the files that `options` name, each complete or not at all. Throws as draw_figure() does.
void write_figure(const Figure& figure, const FigureOptions& options);

/// Returns a figure as SVG, as svg_of() of figure.h describes it.
std::string svg_of(const Figure& figure, const FigureOptions& options);

}  // namespace skid::plots
