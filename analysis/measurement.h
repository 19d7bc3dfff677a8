// One event at one precise level on one machine: all that a report contains.
#pragma once

#include "analysis/basis.h"
#include "analysis/description.h"
#include "analysis/figures.h"

namespace skid::analysis {

/// A measurement keeps the basis: sums of measurements and comparisons are computed from it.
struct Measurement : Description, Figures {
  Basis basis;
};

/// Whether there are several triggers at known distances, over which samples can be unevenly
/// spread.
bool has_trigger_distances(const Measurement& measurement);

/// Sets what follows from the description and the basis: the figures, the number of exact samples,
/// the effective period if `basis.period_sum` is known, and the measured events per iteration if
/// `basis.iterations` is.
void complete(Measurement& measurement);

}  // namespace skid::analysis
