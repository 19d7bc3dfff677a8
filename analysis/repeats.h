// Repetitions of one measurement: added up to one, as if their samples were of one recording, or
// statistics over runs, with intervals over runs instead of samples.
#pragma once

#include "analysis/measurement.h"
#include "analysis/statistics.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace skid::analysis {

struct Difference;

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

/// What one run gave for a statistic, and the variance that sampling alone gives it.
struct RunValue {
  double value = 0;
  double sampling_variance = 0;
};

/// The mean of the runs' values; for equal values exactly that value, so that rounding does not
/// look like a difference. 0 for none.
double mean_of(std::span<const RunValue> runs);

/// The share of a run. Its sampling variance is that of (count + 2) / (total + 4), so that a share
/// of 0 or 1 has one too. Of no samples: 1/2, with a variance of 1/16.
RunValue run_value(const Share& share);
/// nullopt for fewer than two samples, which have no variance.
std::optional<RunValue> run_mean(const OffsetCounts& offsets);
/// The grouped quantile, the variance taken from the width of its interval; nullopt where the
/// samples do not bound it on both sides.
std::optional<RunValue> run_quantile(const OffsetCounts& offsets, double share);

/// The mean of the runs' values with Student's t interval over the runs, at least as wide as
/// sampling alone makes it. nullopt for fewer than two runs. Resampling three to five runs would
/// give intervals that are too narrow.
std::optional<Interval> interval_over_runs(std::span<const RunValue> runs);

/// The difference b - a of the mean values of two sides' runs: Welch's t over the runs. If one
/// side has a single run, its runs are assumed to vary like those of the other. The variance is at
/// least that of sampling alone. nullopt if no side has two runs, or one has none.
std::optional<Difference> difference_over_runs(std::span<const RunValue> a,
                                               std::span<const RunValue> b);

/// A statistic over runs.
struct OverRuns {
  std::size_t runs = 0;  ///< that have it: at least two
  Interval interval;     ///< of the mean of the runs' values
  /// Samples are censored in some run, so that its value is a lower bound.
  bool at_least = false;
};

/// Measurements of one configuration: of the same event at the same level on the same machine.
struct RepeatedMeasurement {
  std::vector<const Measurement*> runs;  ///< at least two, not owned
  std::optional<OverRuns> hit_ratio;     ///< within [0, 1]
  std::optional<OverRuns> median, mean;  ///< in instructions; the median is the grouped one
};

/// The measurements that have repetitions, by configuration (`configuration_of`), in the
/// order of their first ones. A statistic that fewer than two of the runs have is left out.
std::vector<RepeatedMeasurement> repeats_of(std::span<const Measurement* const> measurements);

}  // namespace skid::analysis
