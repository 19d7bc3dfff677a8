// A figure with a block of panels for each event.
#pragma once

#include "plots/drawing.h"
#include "plots/machines.h"
#include "src/output/report/grouping.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skid::plots {

using output::Column;

struct Axis;
struct FigureOptions;

/// An event with its measurements by machine, which are empty if it was not measured there.
struct EventOnMachines {
  std::string event;
  std::vector<std::vector<Column>> machines;
  std::vector<Column> all = {};
};
/// Lists the events of all machines, in order of first appearance.
std::vector<EventOnMachines> events_of(const Machines& machines);

/// Returns the height of a row's step, as a share of the plot's.
using RowHeight = std::function<double(const Rows::value_type& row)>;

/// A figure with a block of panels for each event. The panels of different machines are side by
/// side; with one machine, those of up to four events, or on narrow paper two levels of one event.
class EventGrid {
 public:
  /// Makes the panel of some of an event's measurements, which are of one machine. Its title has at
  /// most one line for each; the grid adds the event.
  using MakePanel =
      std::function<Panel(const EventOnMachines& event, const std::vector<Column>& shown)>;

  /// `by_level`: an event has a panel for each level, not one for all.
  EventGrid(std::string_view title, const Machines& machines, const FigureOptions& options,
            bool by_level = false);

  /// Returns the width of one panel's plot, in pixels.
  double plot_width() const;
  /// Returns the line of a precise level: "ls 3". If a level has several labels, each has its own
  /// dashes. `left`: lines of the panel from this one on; each is wider than those drawn over it,
  /// so that equal ones can be told apart.
  std::string line_of(const Column& column, std::size_t left = 1) const;
  /// Returns the number of a precise level's line in style.gp, and of the colour of its name.
  static int style_of(const Column& column);
  /// Adds a line to the title of `panel`: "pp:  `text`, 5101 samples, period 7, synthetic". The
  /// most important part is first, because a long line is cut. In a figure without a caption it is
  /// `text` alone.
  void add_caption(Panel& panel, const Column& column, const std::string& text) const;
  /// Adds the names of the series of `panel`, which are steps, beside them, where the fewest lines
  /// and no other names are. `lines` are the measurements that they show.
  void add_names(Panel& panel, const std::vector<Column>& lines, const RowHeight& height_of,
                 const Axis& axis) const;
  /// Adds the lines to the legend. `style`: "with linespoints".
  void add_line_keys(const std::string& style);
  /// Sets the panels: one for all levels, or one for each from top to bottom. Those of several
  /// machines are side by side. A panel without measurements is marked "not measured".
  void fill(const MakePanel& make);

  Figure figure;

 private:
  void add_block(std::size_t first, const MakePanel& make);
  void add_levels(const EventOnMachines& event, const MakePanel& make);
  std::string name_mark(const std::string& name, const Panel& panel) const;

  const Machines& machines_;
  std::vector<EventOnMachines> events_;
  std::size_t events_across_ = 1;
  bool by_level_;
  bool has_levels_across_ = false;            ///< the panels of an event are in two columns
  std::map<std::string, std::string> lines_;  ///< lines by label
};

}  // namespace skid::plots
