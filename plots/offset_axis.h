// The axis of offsets that the measurements of an event share.
#pragma once

#include "plots/labels.h"

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

using analysis::OffsetAxis;

/// It holds offset 0 and all samples, unless a few far ones (0.05% of a measurement on either side)
/// would compress the others. Bins have whole retirement groups where there are some.
OffsetAxis choose_axis(const std::vector<Column>& columns, std::int64_t most_bins);

/// With some space at both ends. Lines have a logarithmic axis unless it is short.
Axis drawn(const OffsetAxis& axis, bool has_lines);

/// gnuplot's settings, with as many tics as the panels of `grid` have room for.
std::vector<std::string> settings_of(const Axis& axis, const EventGrid& grid);

}  // namespace skid::plots
