// The texts of measurements in all figures, and where their panels are.
#pragma once

#include "plots/drawing.h"
#include "plots/figure.h"
#include "src/output/report/grouping.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skid::analysis {
class Breakdown;
struct Measurement;
}  // namespace skid::analysis

namespace skid::plots {

using output::Column;

/// The event as figures name it: as the catalogue of its CPU does if it was recorded by a raw code.
std::string event_name(const analysis::Measurement& measurement);

/// Whether `options` select the event and level.
bool is_selected(const analysis::Measurement& measurement, int level, const FigureOptions& options);

/// UsageError for a selection that nothing is of.
[[noreturn]] void throw_none_selected();

/// The selected measurements, with event_name(); those without a sample apart (group_sampled()).
/// Throws Error when no measurement has a sample, UsageError where none is selected.
Machines machines_of(const std::vector<analysis::Measurement>& measurements,
                     const FigureOptions& options);

/// Removes the measurements that are not `is_kept`; returns their number. Throws UsageError where
/// none is kept, for a figure of `kind`: "--kind bias: no measurement with `what` (3 others);
/// `remedy` makes them".
std::size_t keep_measurements(Machines& machines, bool (*is_kept)(const analysis::Measurement&),
                              Kind kind, std::string_view what, std::string_view remedy);

/// A figure with the title of `options`, else with `title`, marked SYNTHETIC where any measurement
/// is. The machines are in its head: numbered where there are several, with the names of their
/// sources. `width`: where `options` have none, in pixels.
Figure begin_figure(std::string_view title, const Machines& machines, const FigureOptions& options,
                    double width);

/// "CPU 2" of several machines, else empty.
std::string machine_name(const Machines& machines, std::size_t machine);

/// An event with its measurements by machine: none where it was not measured.
struct EventOnMachines {
  std::string event;
  std::vector<std::vector<Column>> machines;
  std::vector<Column> all = {};
};
/// In order of first appearance, on whatever machine.
std::vector<EventOnMachines> events_of(const Machines& machines);

/// A horizontal axis of whole numbers. `logarithmic`: in both directions from 0.
struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;

  /// In parts of its length.
  double place_of(double value) const;
};

/// The height of a row's step, in parts of the plot's.
using RowHeight = std::function<double(const Rows::value_type& row)>;

/// A figure with a block of panels for each event: those of different machines side by side, else
/// those of up to four events.
class EventGrid {
 public:
  /// The panel of these of an event's measurements, which are of one machine. Its title has a line
  /// for each, at most; the grid adds the event.
  using MakePanel =
      std::function<Panel(const EventOnMachines& event, const std::vector<Column>& shown)>;

  EventGrid(std::string_view title, const Machines& machines, const FigureOptions& options);

  /// Of one panel's plot, in pixels.
  double plot_width() const;
  /// "ls 3", the line of a precise level; of several labels of a level each has its own dashes.
  std::string line_of(const Column& column) const { return lines_.at(column.label); }
  /// Without dashes, for its colour.
  std::string color_of(const Column& column) const {
    return line_of(column).substr(0, line_of(column).find(" dt"));
  }
  /// Adds a line to the title of `panel`: "pp:  `text`, 5101 samples, period 7, synthetic". The
  /// most important is first: a long one is cut. Without a caption `text` alone.
  void add_caption(Panel& panel, const Column& column, const std::string& text) const;
  /// Adds the names of the series of `panel`, steps, beside them, where the fewest lines and no
  /// other names are. `lines`: what each shows.
  void add_names(Panel& panel, const std::vector<Column>& lines, const RowHeight& height_of,
                 const Axis& axis) const;
  /// Adds the lines to the legend. `style`: "with linespoints".
  void add_line_keys(const std::string& style);
  /// Sets the panels: one for all levels, or one `by_level` from top to bottom, those of several
  /// machines beside each other. "not measured" is where there is nothing to show.
  void fill(bool by_level, const MakePanel& make);

  Figure figure;

 private:
  void add_block(std::size_t first, bool by_level, const MakePanel& make);

  const Machines& machines_;
  std::vector<EventOnMachines> events_;
  std::size_t events_across_ = 1;
  std::map<std::string, std::string> lines_;  ///< by label
};

/// "5101 samples, period 7"; of several runs all samples, and "several periods" where they differ.
std::string samples_text(const std::vector<const analysis::Measurement*>& runs);

/// "5101 samples, period 7, synthetic"
std::string run_text(const analysis::Measurement& measurement);

/// "hits 99.9%, 3 beyond"; `beyond`: samples that the axis does not have.
std::string hits_text(const analysis::Measurement& measurement, std::uint64_t beyond);

/// Adds the classes of samples that `all` has to the legend, of the first `classes`.
void add_class_keys(Figure& figure, const analysis::Breakdown& all, std::size_t classes);

/// Settings of a vertical axis of cumulative shares, the lines of text that its tics need, and the
/// height of a row with a place and a share on it.
inline const std::vector<std::string> kShareAxis{"set yrange [-3:103]", "set ytics 20",
                                                 "set format y '%.0f%%'"};
inline constexpr double kLeastShareLines = 7;
inline double share_height(const Rows::value_type& row) {
  return (row[1] + 3) / 106;
}

/// A mark: the line across a panel at offset 0. gnuplot's own is missing on nonlinear axes.
inline constexpr const char* kTriggerLine =
    "set arrow from 0,graph 0 to 0,graph 1 nohead ls 5 lw 0.7 back";

/// Settings of an axis from 0 to a little more than `highest`, in whole numbers. `is_low`: plots
/// may have room for few tics.
std::vector<std::string> count_axis(double highest, bool logarithmic = false, bool is_low = true);
/// The height of `count` on it, in parts of the plot's.
double count_height(double count, double highest, bool logarithmic);

/// A mark: a dashed line across a panel at a height.
std::string even_line(double height);

/// A mark: a note in the middle of a panel without data.
inline const std::string kNothingLocated =
    "set label 'no located samples' at graph 0.5,graph 0.5 center";

}  // namespace skid::plots
