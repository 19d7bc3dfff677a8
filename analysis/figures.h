// The results that are computed from the counts of an event.
#pragma once

#include "analysis/contract.h"
#include "analysis/delay.h"
#include "analysis/distance.h"
#include "analysis/distributions.h"
#include "analysis/evenness.h"
#include "analysis/histogram.h"
#include "analysis/intervals.h"
#include "analysis/retirement_groups.h"
#include "analysis/share.h"
#include "analysis/tally.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid {
struct Losses;
}  // namespace skid

namespace skid::analysis {

struct Basis;
struct Description;

/// Intervals of the quantiles and the mean of the offsets in instructions.
struct DistanceIntervals {
  /// A quantile whose ends are lower bounds ("at least") at or above the first censored offset.
  struct Quantile : QuantileInterval {
    bool low_at_least = false, high_at_least = false;
  };
  Quantile p50, p90, p99;
  /// nullopt for a single sample. If the mean is a lower bound, so are its ends.
  std::optional<Interval> mean;
};

/// All results that are computed from a description and a basis.
struct Figures {
  Breakdown samples;
  Share hit_ratio;
  /// The share of hits to expect (expected_hit_share() of basis.h). It is set if any instruction
  /// can be sampled (timers, cycles, instructions).
  std::optional<double> expected_hit_share;
  std::optional<Distance> instructions, bytes, tsc_ticks;
  std::optional<DistanceIntervals> intervals;  ///< set if there is a distance in instructions
  std::optional<ConstantSkid> constant_skid;   ///< set if there is a distance in instructions
  std::optional<RetirementGroups> retirement_groups;  ///< nullopt without skids on the runway
  Histogram histogram;
  /// Ends of the histogram's axis: those of the geometry, at most kLongestAxis apart.
  std::int64_t lowest_offset = 0, highest_offset = 0;
  std::optional<std::int64_t> censored_from;  ///< offset in instructions
  Contract contract;
  /// If there are several triggers, in the order of their addresses; else empty.
  std::vector<TriggerCount> triggers;
  std::vector<std::uint64_t> trigger_addresses;
  std::optional<Bias> bias;
  std::optional<Delay> delay;        ///< nullopt: the order of samples does not show it
  std::optional<Evenness> evenness;  ///< evenness at level 3; nullopt: none to be expected
};

/// Returns the verdict of the contract, or `broken` if samples are uneven where PDist makes an even
/// distribution a part of the contract.
Verdict verdict_of(const Figures& figures);

/// Returns a sentence if no sample of an event of the CPU has EXACT_IP, although the kernel sets it
/// at this level, or the PMU is known to have no levels; else an empty text. `level` is precise_ip;
/// `exact` of `samples` have the flag.
std::string ignored_level(int level, ExactIp exact_ip, std::uint64_t exact, std::uint64_t samples);

/// Lists sentences on lost samples and on throttling, each if it concerns more than 1% of the
/// samples, with the remedy. `read`: samples that were read.
std::vector<std::string> loss_warnings(const Losses& losses, std::uint64_t read);

/// Computes the figures of a basis. Without a geometry nothing is judged (no_trigger).
Figures figures_of(const Description& description, const Basis& basis);

}  // namespace skid::analysis
