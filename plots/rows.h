// A plot with a row of text for each measurement: its name at the left, its numbers at the right.
#pragma once

#include "plots/labels.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::plots {

class RowPlot {
 public:
  explicit RowPlot(Figure begun) : figure(std::move(begun)) {}

  /// A row with the name of an event, which belong to the rows below it.
  void begin_event(const std::string& event);
  /// Returns the middle of the row on the vertical axis. `text` is left out on narrow paper.
  double add(const std::string& name, const std::string& text);
  /// A part of a row of space.
  void skip(double rows) { next_ += rows; }
  /// The vertical place of the next row's middle.
  double next() const { return next_; }
  /// The figure, whose panel has all rows. The horizontal axis is in per cent.
  Figure finish(double low, double high, std::string_view x_label);

  Figure figure;
  Panel panel;

 private:
  double next_ = 1;
  std::size_t widest_name_ = 0, widest_text_ = 0;  ///< in characters
};

/// A measurement with the name of its row.
struct Row {
  const analysis::Measurement* measurement;
  std::size_t machine;  ///< its number
  int level;
  std::string name;  ///< with the machine where there are several
};
struct EventRows {
  std::string event;
  std::vector<Row> rows;  ///< by level, then machine, then as the machine's columns
};
/// By event in order of first appearance, on whatever machine.
std::vector<EventRows> rows_by_event(const Machines& machines);

}  // namespace skid::plots
