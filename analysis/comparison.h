// Runs side by side: what differs from a baseline, by how much, and whether that is more than
// chance (docs/compare.md).
#pragma once

#include "analysis/measurement.h"
#include "analysis/statistics.h"
#include "src/support/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {

/// What is compared. The measurements are not owned.
struct ComparedMeasurements {
  const std::vector<std::string>& inputs;  ///< names
  const std::vector<Measurement>& measurements;
  const std::vector<std::size_t>& input_of;  ///< by measurement: the number of its input
};

/// How sides are formed, which are held against the baseline: each input (and each machine, where
/// it was recorded on several), or all that was recorded on the same CPU model, microcode,
/// hypervisor and kernel.
enum class SideBy { input, machine };

struct ComparisonChoices {
  SideBy by = SideBy::input;
  std::size_t baseline = 0;         ///< number of the input whose (first) side is the baseline
  double least_share = 0.001;       ///< differences of shares up to this are not marked
  double least_instructions = 0.5;  ///< the same of distances
};

/// The most comparisons, as a share, in which chance alone marks any difference.
inline constexpr double kSignificance = 0.05;

struct Side {
  std::string name;  ///< of its input; empty where it has several
  Cpu cpu;
  std::string kernel;
  std::vector<std::size_t> inputs;  ///< by their numbers
  std::uint64_t measurements = 0;
  bool synthetic = false;  ///< any of its measurements
};

enum class Statistic {
  hit_ratio,
  constant_share,  ///< of judged samples, at the offset most common in both; level 1 promises it
  mean,            ///< of offsets in instructions, like the quantiles
  median,
  p99,
  distribution,  ///< of offsets
};
inline constexpr std::size_t kStatistics = 6;
SKID_NAMES(Statistic, "hit ratio", "share at the most common offset", "mean", "median", "p99",
           "distribution")
/// Whether its unit is a share and not instructions.
bool is_share(Statistic statistic);

/// A number with its 95% interval, where one could be had.
struct Estimate {
  double value = 0;
  std::optional<double> low, high;
  bool at_least = false;  ///< a lower bound: it is among the censored
};

/// One statistic of a side against the baseline's.
struct StatisticDifference {
  Statistic statistic = Statistic::hit_ratio;
  /// Of the distribution: 0, and the Kolmogorov-Smirnov distance as `here` and `difference`.
  double baseline = 0, here = 0;
  double difference = 0;                      ///< here - baseline
  std::optional<double> low = {}, high = {};  ///< its 95% interval
  std::optional<double> p = {};               ///< nullopt: not tested
  std::optional<double> adjusted_p = {};      ///< after Holm, over all tests of the comparison
  bool p_is_bound = false;                    ///< p is at most this
  bool marked = false;        ///< more than chance, and larger than the smallest effect
  std::string untested = {};  ///< why there is no test
};

/// Distances between two distributions of offsets.
struct Distances {
  double kolmogorov_smirnov = 0;  ///< largest difference of cumulative shares
  double total_variation = 0;     ///< share of samples that would have to move
  double wasserstein = 0;         ///< how far, on average over all samples, in instructions
};

enum class Outcome {
  baseline,
  no_difference,  ///< none shown
  better,
  worse,
  different,     ///< neither better nor worse, or not to be judged
  too_few,       ///< too few samples or runs for a conclusion
  not_compared,  ///< the same name, but not the same thing
  only_here,     ///< the baseline has no such event at this level
};
SKID_NAMES(Outcome, "baseline", "no difference shown", "better", "worse", "different",
           "too few to tell", "not compared", "not in the baseline")

/// The measurements of a side for one event at one level. They are not owned.
struct ComparisonCell {
  std::size_t side = 0;
  std::vector<const Measurement*> runs;  ///< at least one; several are repeats of each other
  std::uint64_t judged = 0;              ///< judged samples of all runs
  /// Over runs where there are several: the mean of what each of them gave.
  std::optional<Estimate> hit_ratio, mean, median, p99;
  std::array<std::size_t, 4> contracts{};  ///< runs by Verdict
  std::array<std::size_t, 3> evenness{};   ///< runs with one, by Evenness::Verdict
  OffsetCounts overshoots;                 ///< skid in events of all runs
  std::optional<MeasuredDelay> delay;      ///< of all runs with the same target
  Outcome outcome = Outcome::only_here;
  bool over_runs = false;  ///< compared over runs, not over samples
  std::vector<StatisticDifference> differences;
  std::optional<Distances> distances;
  bool contract_broke = false;       ///< kept in the baseline, broken here, and more than chance
  bool contract_fixed = false;       ///< the other way round
  std::vector<std::string> remarks;  ///< what makes it another thing than the baseline's, and why
};

/// An event at a precise level.
struct ComparisonRow {
  std::string event;                  ///< label
  int level = 0;                      ///< as requested; as recorded where none was requested
  std::vector<ComparisonCell> cells;  ///< by side; sides without it have none
  bool in_baseline = false;
  std::vector<std::size_t> missing;  ///< sides without it, where the baseline has it

  const ComparisonCell* cell_of(std::size_t side) const;
};

/// Refers to the measurements that it was made of.
struct Comparison {
  ComparisonChoices choices;
  std::vector<Side> sides;
  std::size_t baseline = 0;         ///< of `sides`
  std::vector<std::size_t> empty;   ///< numbers of the inputs without a measurement: of no side
  std::vector<ComparisonRow> rows;  ///< by event in order of first appearance, the baseline's first
  std::size_t tests = 0;            ///< that Holm's procedure went over
};

/// Time and memory grow with the measurements, not with pairs of sides: each is held against the
/// baseline alone. Throws UsageError for a single input of one machine, and, by machine, for
/// inputs of one machine alone and an input that is named twice (it would count as a repeat of
/// itself); Error when the input that is the baseline, or all others, have no measurement. The same
/// measurements give the same p-values on every machine.
Comparison compare(const ComparedMeasurements& compared, const ComparisonChoices& choices);

/// What a gate for scripts counts: cells that are worse, and those of the baseline's rows that the
/// side lacks or has another thing for, or without a judged sample. An input without a measurement
/// lacks them all.
struct Regressions {
  std::size_t worse = 0;
  std::size_t missing = 0;       ///< no such measurement
  std::size_t not_compared = 0;  ///< another event or trigger, or nothing that could be judged
  std::size_t sum() const { return worse + missing + not_compared; }
};
Regressions regressions_of(const Comparison& comparison);

// What compare() is made of: one event at one level on two sides.

/// The runs of a cell together. Refers to their measurements.
struct SideFigures {
  explicit SideFigures(const ComparisonCell& cell);

  std::vector<const Measurement*> runs;  ///< those with judged samples
  const Measurement* first = nullptr;    ///< of all runs
  Share hits;                            ///< of all runs together
  OffsetCounts offsets;                  ///< of all runs together, in instructions
  /// The first censored offset, of the shortest runway.
  std::optional<std::int64_t> censored_from;
};

/// Fills the part of a cell that depends on its side alone: judged samples, estimates, contracts.
void describe(ComparisonCell& cell);

/// Whether hits and misses of a run may be called good or bad.
bool is_judgeable(const Measurement& measurement);

/// Fills outcome (where it is settled without tests), remarks, differences with their p-values and
/// distances of `cell`. Both cells are described.
void hold_against(const ComparisonCell& baseline, const SideFigures& baseline_figures,
                  ComparisonCell& cell);

}  // namespace skid::analysis
