// A figure as data: what it shows, in the units of its axes. gnuplot draws it and computes nothing.
#pragma once

#include "plots/palette.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace skid::plots {

struct Tic {
  double at = 0;
  std::string label;  ///< may be empty
};

/// Of y axes, low is at the bottom: rows that count from the top have their number as low and 0 as
/// high.
struct Axis {
  double low = 0, high = 1;
  std::vector<Tic> tics = {};
  std::string label = {};
  bool logarithmic = false;
  bool grid = false;
};

/// The meaning of a mark, for readers of a page: "pp, offset +1", "5101 samples (100%), skid".
struct Meaning {
  std::string place, value;
};

struct Box {
  double left = 0, right = 0, bottom = 0, top = 0;
  Meaning meaning = {};
};

/// Boxes of one look.
struct Boxes {
  Fill fill = {};
  std::vector<Box> boxes = {};
};

struct Curve {
  LineStyle style;
  std::vector<std::pair<double, double>> points;
};

/// A straight line, before or after the data.
struct Rule {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  LineStyle style;
  bool on_top = false;
};

enum class Shape { disc, ring, cross };

/// A mark at x with an interval from low to high.
struct Point {
  double x = 0, y = 0, low = 0, high = 0;
  Meaning meaning = {};
};

/// Points of one look.
struct Points {
  Color color;
  Shape shape;
  std::vector<Point> points = {};
  bool upright = false;  ///< intervals are of y, not of x; no cross has one
};

enum class Align { left, center, right };

/// A text in a panel.
struct Note {
  double x = 0, y = 0;
  std::string text;
  Color color = Color::grey;
  Align align = Align::center;
};

/// A line of text above a panel, with a sample of the curve that it is about.
struct Caption {
  std::string text;
  std::optional<LineStyle> sample = {};
};

/// Texts on the left and right of a panel.
struct RowText {
  double y = 0;  ///< in units of the y axis
  std::string left, right;
  Color left_color = Color::black, right_color = Color::black;
};

/// A rectangle in pixels from the figure's upper left corner.
struct Area {
  int left = 0, top = 0, width = 0, height = 0;
};

struct Panel {
  int height = 0;  ///< pixels
  std::vector<Caption> captions = {};
  std::vector<RowText> rows = {};
  Axis x = {}, y = {};
  // Drawn in this order.
  std::vector<Rule> rules = {};
  std::vector<Boxes> boxes = {};
  std::vector<Curve> curves = {};
  std::vector<Points> points = {};
  std::vector<Note> notes = {};
  Area area = {};  ///< set by lay_out()
};

/// Panels below each other under a name.
struct Block {
  std::string name;  ///< may be empty
  std::vector<Panel> panels = {};
};

struct LegendEntry {
  std::variant<Fill, LineStyle> look;
  std::string name;
};

/// A paragraph below the title.
struct HeadText {
  std::string text;
  Color color = Color::black;
  std::optional<Color> swatch = {};
  std::size_t most_lines = 1;
};

/// A text at its place in pixels: its left end and the middle of its height.
struct PlacedText {
  int x = 0, y = 0;
  std::string text;
  int points = 9;  ///< size of the font
  Color color = Color::black;
};

/// A piece of a fill or line at its place.
struct Swatch {
  Area area;
  std::variant<Fill, LineStyle> look;
};

struct Figure {
  std::string title;
  std::string remark;  ///< what marks mean, in a line; may be empty
  std::vector<HeadText> head = {};
  std::vector<LegendEntry> legend = {};
  std::vector<Block> blocks = {};
  int columns = 1;       ///< blocks side by side
  int plot_width = 640;  ///< pixels of a panel
  // Set by lay_out().
  int width = 0, height = 0;  ///< pixels; in PDF a pixel is 1/96 inch
  std::vector<PlacedText> texts = {};
  std::vector<Swatch> swatches = {};
};

}  // namespace skid::plots
