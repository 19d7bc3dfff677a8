// A plot with a row of text for each measurement: its name at the left, its numbers at the right.
#pragma once

#include "plots/drawing.h"
#include "plots/machines.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::plots {

class RowPlot {
 public:
  explicit RowPlot(Figure begun) : figure(std::move(begun)) {
    figure.left_margin = figure.right_margin = 3;
  }

  /// Adds a row with the name of an event, which belongs to the rows below it.
  void begin_event(const std::string& event);
  /// Adds a row and returns its middle on the vertical axis. Of `text`, whose parts
  /// commas separate, those are shown that there is room for; on narrow paper none.
  double add(const std::string& name, const std::string& text);
  /// Adds a note in the middle of the row at `y`, which has no mark.
  void add_note(std::string_view note, double y);
  /// Adds the rows of all measurements, ordered by event, level, machine and column. `add_marks`
  /// returns the text of a row, and adds its marks at the height `y`.
  void add_all(const Machines& machines,
               const std::function<std::string(const analysis::Measurement& m, std::size_t machine,
                                               double y)>& add_marks);
  /// Leaves a space, in rows.
  void skip(double rows) { next_ += rows; }
  /// Returns the middle of the next row on the vertical axis.
  double next() const { return next_; }
  /// Returns the figure, whose panel has all rows. The horizontal axis is in per cent, up to 100.
  Figure finish(double low, std::string_view x_label);

  Figure figure;
  Panel panel;

 private:
  /// Adds a label in the next row. Returns the margin that it needs, in characters.
  double add_label(const std::string& text, std::string_view x, std::string_view place);
  double next_ = 1;
};

}  // namespace skid::plots
