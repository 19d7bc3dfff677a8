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
/// Computes the delays of several runs of one event and level, which are added up by target.
std::vector<MeasuredDelay> delays_over(const std::vector<const Measurement*>& runs);

}  // namespace skid::analysis
