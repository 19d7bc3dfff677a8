// Figures with a line per measurement, in a panel for each event.
#pragma once

#include "plots/canvas.h"
#include "plots/figure_blocks.h"
#include "plots/figure_file.h"
#include "src/output/report/grouping.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace skid::plots {

struct Row {
  output::Column column;
  std::size_t machine = 0;  ///< its number
};

struct EventRows {
  std::string event;
  std::vector<Row> rows;  ///< by level, then machine, then as the machine's columns
};

/// By event in order of first appearance, on whatever machine.
std::vector<EventRows> rows_by_event(const std::vector<output::MachineGroup>& machines);

/// `label` of a row, with the machine where there are several.
std::string row_label(const Row& row, bool one_machine);

/// What a kind of such figures has of its own.
struct RowFigure {
  std::string title;
  std::string note;  ///< what colours and marks mean, in a line
  std::vector<LegendEntry> legend;
  int head_room = 0;  ///< pixels below the legend that the first panel draws into
  int row_height = 20;
  bool one_axis = false;  ///< below the last panel alone
  /// What stands behind a row.
  std::function<std::string(const Row&)> text;
  /// Draws the rows below each other, each row_height pixels high.
  struct Panel {
    std::size_t number;  ///< from 0
    bool labelled;       ///< shows the x axis
    Area area;
    Area head;  ///< head_room pixels, as wide as a panel
  };
  std::function<void(Canvas&, const EventRows&, const Panel&)> draw;
};

inline constexpr int kRowPlotWidth = 640;  // pixels

/// Throws Error when the figure would be larger than an image can be.
Drawing draw_rows(const std::vector<output::MachineGroup>& machines, const RowFigure& figure);

}  // namespace skid::plots
