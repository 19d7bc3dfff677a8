// Compares runs with a baseline: what differs, by how much, and whether that is more than chance
// (docs/compare.md).
#pragma once

#include "analysis/description.h"
#include "analysis/measured_delay.h"
#include "analysis/offset_counts.h"
#include "src/support/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {

struct Measurement;

/// The measurements to compare, which are not owned.
struct ComparedMeasurements {
  const std::vector<std::string>& inputs;  ///< names of the inputs
  const std::vector<Measurement>& measurements;
  const std::vector<std::size_t>& input_of;  ///< for each measurement, the number of its input
};

/// How measurements are divided into the sides that are compared with the baseline. `input`: one
/// for each input, and for each machine if an input was recorded on several. `machine`: one for all
/// that was recorded on the same CPU model, microcode, hypervisor and kernel.
enum class SideBy { input, machine };
SKID_NAMES(SideBy, "input", "machine")

struct ComparisonChoices {
  SideBy by = SideBy::input;
  std::size_t baseline = 0;         ///< number of the input whose (first) side is the baseline
  double least_share = 0.001;       ///< differences of shares up to this are not marked
  double least_instructions = 0.5;  ///< differences of distances up to this are not marked
};

/// The significance level: chance alone marks any difference in at most this share of comparisons.
inline constexpr double kSignificance = 0.05;

struct Side {
  std::string name;  ///< name of its input; empty if it has several
  Cpu cpu;
  std::string kernel;
  std::vector<std::size_t> inputs;  ///< numbers of its inputs
  std::uint64_t measurements = 0;
  bool synthetic = false;  ///< true if any of its measurements is
};

enum class Statistic {
  hit_ratio,
  /// The share of judged samples at the offset most common in both, which level 1 constrains.
  constant_share,
  mean,  ///< mean offset in instructions, like the quantiles
  median,
  p99,
  distribution,  ///< distribution of offsets
};
inline constexpr std::size_t kStatistics = 6;
SKID_NAMES(Statistic, "hit ratio", "share at the most common offset", "mean", "median", "p99",
           "distribution")
/// Whether the unit of a statistic is a share and not instructions.
bool is_share(Statistic statistic);

/// A number with its 95% interval, if there is one.
struct Estimate {
  double value = 0;
  std::optional<double> low, high;
  bool at_least = false;  ///< a lower bound, because it is among the censored samples
};

/// Why a statistic is not tested.
enum class Untested { none, any_instruction, few_samples, no_interval, censored, few_runs };
SKID_NAMES(Untested, "", "not judged: this event can be sampled at any instruction",
           "a run has too few samples", "a run has too few samples for an interval",
           "it is among the censored samples, at an unknown distance",
           "runs differ by more than samples, and there are too few runs for a test")

/// One statistic of a side compared with that of the baseline.
struct StatisticDifference {
  Statistic statistic = Statistic::hit_ratio;
  /// The values of the two. For the distribution, `baseline` is 0, and `here` and `difference` are
  /// the Kolmogorov-Smirnov distance.
  double baseline = 0, here = 0;
  double difference = 0;                      ///< here - baseline
  std::optional<double> low = {}, high = {};  ///< 95% interval of the difference
  std::optional<double> p = {};               ///< nullopt: not tested
  std::optional<double> adjusted_p = {};      ///< Holm's, over all tests of the comparison
  bool p_is_bound = false;                    ///< true if the real p is at most `p`
  bool marked = false;  ///< more than chance, and larger than the smallest effect
  Untested untested = Untested::none;
};

/// Distances between two distributions of offsets.
struct Distances {
  double kolmogorov_smirnov = 0;  ///< largest difference of cumulative shares
  double total_variation = 0;     ///< share of samples that would have to move
  double wasserstein = 0;         ///< mean distance to move each sample, in instructions
};

enum class Outcome {
  baseline,
  no_difference,  ///< no difference shown
  better,
  worse,
  different,     ///< neither better nor worse, or not to be judged
  too_few,       ///< too few samples or runs for a conclusion
  not_compared,  ///< the same name, but not the same thing
  only_here,     ///< the baseline does not have this event at this level
};
SKID_NAMES(Outcome, "baseline", "no difference shown", "better", "worse", "different",
           "too few to tell", "not compared", "not in the baseline")

/// How a cell differs from the baseline's, or why it is not compared with it.
struct Caveat {
  enum class Kind {
    several_events,    ///< the runs of the baseline recorded `here` and `baseline`
    several_triggers,  ///< of the runs here
    several_triggers_in_baseline,
    no_trigger,
    level_of_untagged,  ///< that of event `here`, which IBS or SPE is held against
    event,              ///< like those that follow: `here` and not `baseline`
    trigger,
    runway,
    period,
    path,
    level,
    substituted,  ///< `here` was recorded in place of the requested event
    sum,          ///< of `here` recordings, whose variation is not known
    read_in_part,
    censored,  ///< skids from `here` on are compared as if they were `here`
    nothing_judged,
    nothing_judged_in_baseline,
  };
  Kind kind;
  std::string here = {}, baseline = {};
  bool operator==(const Caveat&) const = default;
};

/// The measurements of a side for one event at one level, which are not owned.
struct ComparisonCell {
  std::size_t side = 0;
  std::vector<const Measurement*> runs;  ///< at least one; several are repeats of each other
  std::uint64_t judged = 0;              ///< judged samples of all runs
  /// The estimates; with several runs, the means of the values of each run.
  std::optional<Estimate> hit_ratio, mean, median, p99;
  std::array<std::size_t, 4> contracts{};  ///< numbers of runs by Verdict
  std::array<std::size_t, 3> evenness{};   ///< numbers of runs by Evenness::Verdict
  OffsetCounts overshoots;                 ///< skid in events of all runs
  std::optional<MeasuredDelay> delay;      ///< delay over all runs with the same target
  Outcome outcome = Outcome::only_here;
  bool over_runs = false;  ///< true if compared over runs and not over samples
  std::vector<StatisticDifference> differences;
  std::optional<Distances> distances;
  /// True if the contract is kept in the baseline and broken here, by more than chance.
  bool contract_broke = false;
  /// True if the contract is broken in the baseline and kept here, by more than chance.
  bool contract_fixed = false;
  std::vector<Caveat> caveats;
};

/// An event at a precise level.
struct ComparisonRow {
  std::string event;                  ///< label
  int level = 0;                      ///< requested level; the recorded one if none was requested
  std::vector<ComparisonCell> cells;  ///< cells in the order of the sides that have the event
  bool in_baseline = false;
  std::vector<std::size_t> missing;  ///< sides without the event, if the baseline has it

  const ComparisonCell* cell_of(std::size_t side) const;
};

/// The result of compare(), which refers to the measurements that it was made of.
struct Comparison {
  ComparisonChoices choices;
  std::vector<Side> sides;
  std::size_t baseline = 0;         ///< index in `sides`
  std::vector<std::size_t> empty;   ///< numbers of the inputs without a measurement, not in a side
  std::vector<ComparisonRow> rows;  ///< events in order of first appearance, the baseline's first
  std::size_t tests = 0;            ///< number of tests in Holm's procedure
};

/// Whether a figure of any run was compared with the baseline's: both have judged samples of the
/// same event, level and trigger.
bool compares_anything(const Comparison& comparison);

/// Compares each side with the baseline alone, so that time and memory grow with the measurements
/// and not with pairs of sides. Throws ValueError for a single input of one machine, and, by
/// machine, if all inputs are of one machine or an input is named twice (it would count as a repeat
/// of itself). Throws Error if the input that is the baseline has no measurement, or all others
/// have none. The same measurements give the same p-values on every machine.
Comparison compare(const ComparedMeasurements& compared, const ComparisonChoices& choices);

/// Counts for scripts that accept or reject a run: cells that are worse, and cells in the
/// baseline's rows that are missing, that measured something else, or that have no judged sample.
/// An input without a measurement lacks all of them.
struct Regressions {
  std::size_t worse = 0;
  std::size_t missing = 0;       ///< cells without a measurement
  std::size_t not_compared = 0;  ///< another event or trigger, or no judged sample
  std::size_t sum() const { return worse + missing + not_compared; }
};
Regressions regressions_of(const Comparison& comparison);

}  // namespace skid::analysis
