// The texts of measurements in all figures, and where their panels are.
#pragma once

#include "plots/drawing.h"
#include "src/output/report/grouping.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::plots {

/// The event as figures name it: as the catalogue of its CPU does if it was recorded by a raw code.
std::string event_name(const analysis::Measurement& measurement);

/// Whether `options` select the event and level.
bool is_selected(const analysis::Measurement& measurement, int level, const FigureOptions& options);

/// UsageError for a selection that nothing is of.
[[noreturn]] void throw_none_selected();

/// The selected measurements, with event_name(). Throws Error when there are no measurements,
/// UsageError where none is selected.
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

/// An event with its measurements by machine; null where a machine has none.
struct EventOnMachines {
  std::string event;
  std::vector<const output::EventGroup*> groups;
  /// Of all machines.
  std::vector<output::Column> columns() const;
};
/// In order of first appearance, on whatever machine.
std::vector<EventOnMachines> events_of(const Machines& machines);

/// A figure with a block of panels for each event: those of different machines side by side.
class EventGrid {
 public:
  EventGrid(std::string_view title, const Machines& machines, const FigureOptions& options);

  /// Of one panel's plot, in pixels.
  double plot_width() const;
  /// Sets the panels. `make` returns those of an event on a machine from top to bottom.
  void fill(const std::function<std::vector<std::optional<Panel>>(
                const EventOnMachines&, const output::EventGroup&)>& make);

  Figure figure;

 private:
  std::string title_of(const EventOnMachines& event, std::size_t machine) const;
  /// Each line of the title of a panel as long as there is room.
  std::string fitted(std::string_view title) const;

  const Machines& machines_;
  std::vector<EventOnMachines> events_;
  std::size_t events_across_ = 1;
};

/// "5101 samples, period 7"; of several runs all samples, and "several periods" where they differ.
std::string samples_text(const std::vector<const analysis::Measurement*>& runs);

/// "pp:  5101 samples, period 7, hits 0%, 3 beyond the axis, synthetic": as much as there is room.
std::string caption_of(const output::Column& column, const Paper& paper, std::uint64_t beyond);

/// Settings of a vertical axis of cumulative shares, apart from the frame.
inline const std::vector<std::string> kShareAxis{"set yrange [-3:103]", "set ytics 20",
                                                 "set format y '%.0f%%'"};

/// A mark: the line across a panel at offset 0.
inline constexpr const char* kTriggerLine =
    "set arrow from 0,graph 0 to 0,graph 1 nohead ls 5 lw 0.7 back";

/// A mark: the dashed line across a panel at the height of an even share.
std::string even_line(double height);

/// "ls 3", the line of a precise level; the n-th of several lines of a level has its own dashes.
std::string line_of(int level, std::size_t n = 0);

/// Sets the vertical axis of `panel`: from 0 to a little more than `highest`, in whole numbers.
void set_count_axis(Panel& panel, double highest, bool logarithmic = false);

/// The label of an axis of offsets.
std::string offset_label(const Paper& paper);

/// "no located samples" in the middle of `panel`.
void show_nothing_located(Panel& panel);

/// A label at a curve, in the colour of the line `style`. `right`: it ends there.
std::string label_at(double x, double y, const std::string& quoted, const std::string& style,
                     bool right);

}  // namespace skid::plots
