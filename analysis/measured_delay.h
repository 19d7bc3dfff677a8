// A delay with the pairs of samples that show it, over several runs.
#pragma once

#include "analysis/delay.h"

#include <vector>

namespace skid::analysis {

struct Measurement;

/// A delay and what shows it.
struct MeasuredDelay {
  Delay delay;
  SamplePairs pairs;
};
/// Adds the pairs of runs whose targets have the same distances, and computes one delay of each
/// sum. Sums without a significant delay are left out.
std::vector<MeasuredDelay> delays_over(const std::vector<const Measurement*>& runs);

}  // namespace skid::analysis
