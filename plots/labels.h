// The labels of measurements in all figures, and the parts that several kinds share.
#pragma once

#include "plots/model.h"
#include "plots/offset_bins.h"
#include "src/output/report/grouping.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skid::plots {

using Machines = std::vector<output::MachineGroup>;

/// A figure with `title`, marked SYNTHETIC where any of the measurements is, and the machines in
/// its head: numbered where there are several, with the names of their sources.
Figure begin_figure(std::string_view title, const Machines& machines);

/// Keeps the measurements that `is_kept`; returns the number of those removed.
std::size_t keep_measurements(Machines& machines, bool (*is_kept)(const analysis::Measurement&));

/// One event on one machine.
struct NamedEvent {
  const output::EventGroup* event;
  std::string name;
};
/// All events of `machines`. Sets the columns and the width of panels of a figure that has a block
/// for each of them.
std::vector<NamedEvent> events_in_blocks(const Machines& machines, Figure& figure);

/// Pixels of one of `panels` panels below each other.
int panel_height(std::size_t panels);
/// Measurements of the event that has the most.
std::size_t most_columns(const std::vector<NamedEvent>& events);

/// A line of a figure with a row per measurement.
struct Row {
  const analysis::Measurement* measurement;
  std::size_t machine;  ///< its number
  int level;
  std::string label;  ///< with the machine where there are several
};
struct EventRows {
  std::string event;
  std::vector<Row> rows;  ///< by level, then machine, then as the machine's columns
};
/// By event in order of first appearance, on whatever machine.
std::vector<EventRows> rows_by_event(const Machines& machines);

/// A panel with room for `rows` rows, whose y axis counts them from the top.
Panel row_panel(double rows, int row_height);

/// "5101 samples, period 7"
std::string samples_text(const analysis::Measurement& measurement);
/// The samples of all runs; "several periods" where they differ.
std::string samples_text(const std::vector<const analysis::Measurement*>& runs);

/// "5101 samples, period 7, hits 0%, 3 beyond the axis, synthetic"
std::string samples_and_hits(const analysis::Measurement& measurement, std::uint64_t beyond);

/// "120 samples (12.00% of the located)"
std::string count_and_share(std::uint64_t count, std::uint64_t all, std::string_view of);

/// Tics at multiples of `step` from `low` to `high`, with the labels of `text`.
template <typename Text>
std::vector<Tic> tics(double low, double high, double step, Text text) {
  std::vector<Tic> result;
  for (auto i = static_cast<std::int64_t>(low / step) - 1;; ++i) {
    const double at = static_cast<double>(i) * step;
    if (at > high) return result;
    if (at >= low) result.push_back({at, text(at)});
  }
}

/// The x axis of offsets for a panel of `plot_width` pixels. Without `labelled` it has tics alone:
/// panels share the texts of the lowest one.
Axis offset_axis(const OffsetAxis& axis, int plot_width, bool labelled);
/// The dashes of the n-th of several lines of a level, in pixels; the first is solid.
const std::vector<double>& dashes_of(int n);
/// A line across the panel at the trigger. `y`: the final axis of the panel.
Rule trigger_rule(const Axis& y);

/// "+3", "+20 to +39": the offsets of a bin that begins at `lo`. Where bins are wider than one
/// instruction, hits have offset 0 and the rest of their bin begins at +1.
std::string offsets_of(std::int64_t lo, bool hits, const OffsetAxis& axis);

/// "no located samples" in the middle of `panel`, which then has no y axis.
void show_nothing_located(Panel& panel);

}  // namespace skid::plots
