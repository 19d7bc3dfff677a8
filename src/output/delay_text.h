// The delay from a counter's overflow to the record, in words.
#pragma once

#include <cstdint>
#include <string>

namespace skid::analysis {
struct Delay;
struct SamplePairs;
}  // namespace skid::analysis

namespace skid::output {

/// Writes a range of instructions: "43", "42 to 46".
std::string range_text(std::uint64_t low, std::uint64_t high);

/// Writes the range of a delay, in instructions.
std::string range_of(const auto& delay) {
  return range_text(delay.low, delay.high);
}

/// Writes "43 instructions from overflow to record (p5 41, p50 44, p95 62); predicts 93% of 4999
/// next samples (independent: 23%), 12 left out". `pairs`: those that the delay was found in.
std::string delay_text(const analysis::Delay& delay, const analysis::SamplePairs& pairs);

}  // namespace skid::output
