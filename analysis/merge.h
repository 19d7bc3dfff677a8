// Adds up measurements of one configuration, as if their samples were of one recording.
#pragma once

#include "analysis/measurement.h"
#include "src/machine/configuration.h"

#include <cstddef>
#include <string>
#include <vector>

namespace skid::analysis {

struct Part;

/// Returns the measurements of one recording each that a measurement is the sum of, at most the
/// first kMostParts of them; itself if it is none.
std::vector<Part> parts_of(const Measurement& measurement);

/// Returns what two measurements must have in common to be added up: the event as requested and as
/// recorded with its modifiers, level, CPU, microcode, kernel, trigger, geometry, period, what may
/// be judged, source of the data addresses, tracepoint of the check, synthetic or not. The number
/// of the repetition is not included.
machine::Configuration configuration_of(const Measurement& measurement);

/// How repetitions of the same configuration are treated.
enum class RepeatPolicy {
  pair,   ///< repetitions of the same number are added up, others stay apart
  pool,   ///< all are added up
  apart,  ///< nothing is added up; they are renumbered as repetitions of one run
};

struct Merged {
  std::vector<Measurement> measurements;  ///< sums in the order of their first parts
  /// Why measurements of the same event and level were not added up: their first difference, each
  /// once ("access:pp: kernel: 6.1.0 and 6.2.0").
  std::vector<std::string> differences;
};

/// Adds up the samples of each configuration and recomputes the figures. Counts are added exactly;
/// warnings are kept once each, up to a limit. Ticks per instruction that differ are dropped with a
/// warning, because they give no distance in ticks. Iterations are dropped unless all parts have
/// them. `input_of` has the number of each measurement's input. Measurements of one recording are
/// never added up, because they may have counted the same events. Time and memory grow with the
/// measurements, not with their pairs. Throws Error if there are more samples than can be counted
/// exactly.
Merged merge(std::vector<Measurement> measurements, const std::vector<std::size_t>& input_of,
             RepeatPolicy repeats);

/// Adds up measurements of one run, event and level that were recorded with different periods, one
/// repetition each (`record --vary-period`). The requested period of the sum is the first one.
/// `input_of` is that of merge(); the same elements are removed from both.
void pool_periods(std::vector<Measurement>& measurements, std::vector<std::size_t>& input_of);

}  // namespace skid::analysis
