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

/// Chooses an axis that contains offset 0 and all samples, unless a few far ones (0.05% of a
/// measurement on either side) would compress the others. Bins have whole retirement groups if
/// there are some.
OffsetAxis choose_axis(const std::vector<Column>& columns, std::int64_t most_bins);

/// Returns the axis as it is drawn, with some space at both ends. If it `has_lines`, it is
/// logarithmic unless it is short.
Axis drawn(const OffsetAxis& axis, bool has_lines);

/// Returns gnuplot's settings of an axis, with as many tics as the panels of `grid` have room for.
std::vector<std::string> settings_of(const Axis& axis, const EventGrid& grid);

}  // namespace skid::plots
