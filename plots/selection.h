// The measurements that a figure shows.
#pragma once

#include "plots/machines.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::output {
class EventLevels;
}  // namespace skid::output

namespace skid::plots {

enum class Kind;
struct FigureOptions;

/// Returns the name of an event in figures. An event that was recorded by a raw code has its name
/// of the catalogue.
std::string event_name(const analysis::Measurement& measurement);

/// Whether `options` select the event of a measurement and a level.
bool is_selected(const analysis::Measurement& measurement, int level, const FigureOptions& options);

/// Throws Error for options that select none of the measurements. `measured`: their events.
[[noreturn]] void throw_none_selected(const output::EventLevels& measured);

/// Groups the selected measurements as group_sampled() does, with event_name(), and leaves out
/// machines without a sample. Removes the others from `measurements`, which must outlive the
/// groups. Throws Error if no measurement has a sample, or none is selected.
Machines group_selected(std::vector<analysis::Measurement>& measurements,
                        const FigureOptions& options);

/// Removes the measurements that are not `is_kept` and returns their number. Throws ValueError if
/// none is kept, for a figure of `kind`: "figure bias: no measurement with `what` (3 others);
/// `remedy`".
std::size_t keep_measurements(Machines& machines, bool (*is_kept)(const analysis::Measurement&),
                              Kind kind, std::string_view what, std::string_view remedy);

}  // namespace skid::plots
