// The share of a measurement's located samples up to each offset.
#pragma once

#include "analysis/measurement.h"

#include <cstdint>
#include <vector>

namespace skid::plots {

struct Step {
  std::int64_t offset = 0;  ///< instructions
  double share = 0;         ///< of the located samples, at most at `offset`
};

/// Ascending, a step for each bin, at its last offset: what is known of wider bins. Hits have a
/// step of their own at 0. Samples below the histogram count as before it; those above it never
/// come, so that the last share may be below 1. Empty without a located sample.
std::vector<Step> cumulative_shares(const analysis::Measurement& measurement);

}  // namespace skid::plots
