// Whether two cells of one name are the same thing, so that they can be compared.
#pragma once

#include "analysis/comparison.h"

#include <string>
#include <vector>

namespace skid::analysis {

/// Why the runs of `baseline` are no repeats of each other, or nothing.
std::string why_no_baseline(const Cell& baseline);

/// Why `cell` is not the same thing as the baseline, of which this is a run, or nothing.
std::string why_not_compared(const Measurement& baseline, const Cell& cell);

/// Differences that do not prevent a comparison, each listed once.
std::vector<std::string> reservations(const Measurement& baseline, const Cell& cell);

}  // namespace skid::analysis
