// The confidence of all intervals.
#pragma once

namespace skid::analysis {

/// The confidence of each interval: 95%.
inline constexpr double kConfidence = 0.95;

/// Returns the z of a two-sided normal interval: P(|Z| <= z) = kConfidence.
double two_sided_z();

}  // namespace skid::analysis
