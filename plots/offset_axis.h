// The axis of offsets that the measurements of an event share.
#pragma once

#include "plots/labels.h"

#include <cstdint>
#include <string>
#include <vector>

namespace skid::plots {

using analysis::OffsetAxis;

/// It holds offset 0 and all samples, unless a few far ones (0.05% of a measurement on either side)
/// would compress the others. Bins have whole retirement groups where there are some.
OffsetAxis choose_axis(const std::vector<Column>& columns, std::int64_t most_bins);

/// Settings of a horizontal axis of whole numbers, in pixels of `grid`. `logarithmic`: in both
/// directions from 0.
std::vector<std::string> settings_of(double low, double high, bool logarithmic,
                                     const EventGrid& grid);
/// Of offsets. Lines, which have no bins, have a logarithmic axis unless it is short.
std::vector<std::string> settings_of(const OffsetAxis& axis, bool has_lines, const EventGrid& grid);

}  // namespace skid::plots
