// The axis of offsets that the measurements of an event share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace skid::analysis {
struct OffsetAxis;
}  // namespace skid::analysis

namespace skid::output {
struct Column;
}  // namespace skid::output

namespace skid::plots {

class EventGrid;
struct Axis;
using analysis::OffsetAxis;
using output::Column;

/// Chooses the axis for at most about `most_bins` bins. It contains offset 0 and all samples,
/// unless the outer 0.05% of a measurement would make it more than four times as long. Bins are
/// multiples of --bin; without one, of the retirement group.
OffsetAxis choose_axis(const std::vector<Column>& columns, std::int64_t most_bins);

/// Returns the axis with a margin at both ends. Figures of lines (`has_lines`) have a logarithmic
/// one above 100 instructions.
Axis drawn(const OffsetAxis& axis, bool has_lines);

/// Returns gnuplot's settings of an axis, with as many tics as the panels of `grid` have room for.
std::vector<std::string> settings_of(const Axis& axis, const EventGrid& grid);

}  // namespace skid::plots
