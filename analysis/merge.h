// Measurements of one configuration added up to one, as if their samples were of one recording.
#pragma once

#include "analysis/measurement.h"

#include <utility>

namespace skid::analysis {

/// What two measurements must have in common to be added up: each property's name and value, in the
/// order in which a difference is reported. The repetition is none of them.
using Configuration = std::vector<std::pair<std::string, std::string>>;

/// Event as requested and as recorded with its modifiers, level, CPU, microcode, kernel, trigger,
/// geometry, period, what may be judged, what data addresses are of, tracepoint of the check,
/// synthetic or not.
Configuration configuration_of(const Measurement& measurement);

/// What becomes of repetitions of the same configuration.
enum class RepeatPolicy {
  pair,   ///< those of the same number are added up, others stay apart
  pool,   ///< all are added up
  apart,  ///< nothing is added up: they are renumbered as repetitions of one run
};

/// What becomes of a recording that is there twice, under one name or two.
enum class Duplicates : std::uint8_t { refused, counted };

struct Merged {
  std::vector<Measurement> measurements;  ///< in the order of the first part of each
  /// Why measurements of the same event and level were not added up: the first difference, once
  /// each. "access:pp: kernel: 6.1.0 and 6.2.0"
  std::vector<std::string> differences;
};

/// Adds up the samples of each configuration and recomputes the figures. Counts are added exactly;
/// warnings are kept once each, up to a limit. Ticks per instruction that differ are dropped with a
/// warning, because they give no distance in ticks, and so are iterations that are not known of
/// each. `input_of`: by measurement, the number of the input that it came from. Measurements of one
/// recording are never added up, for they may have counted the same events. Takes time and memory
/// that grow with the measurements, not with their pairs. Throws Error if the same recording is in
/// two of them and `duplicates` are refused, or if the samples exceed 64 bits.
Merged merge(std::vector<Measurement> measurements, const std::vector<std::size_t>& input_of,
             RepeatPolicy repeats, Duplicates duplicates = Duplicates::refused);

/// Adds up those of one run, event and level that were recorded with different periods, one
/// repetition each (`record --vary-period`); the sum has the first period as the requested one.
/// `input_of`: as of merge(); both are shortened alike.
void pool_periods(std::vector<Measurement>& measurements, std::vector<std::size_t>& input_of);

}  // namespace skid::analysis
