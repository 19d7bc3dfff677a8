#include "analysis/cell_comparison.h"

#include "analysis/basis.h"
#include "analysis/comparison.h"
#include "analysis/contract.h"
#include "analysis/description.h"
#include "analysis/distance.h"
#include "analysis/distributions.h"
#include "analysis/evenness.h"
#include "analysis/event_identity.h"
#include "analysis/figures.h"
#include "analysis/geometry.h"
#include "analysis/intervals.h"
#include "analysis/measured_delay.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/recording_path.h"
#include "analysis/repeats.h"
#include "analysis/skid_in_events.h"
#include "analysis/tally.h"
#include "analysis/two_sample.h"
#include "analysis/wording.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

/// The shares of the quantiles that are compared.
constexpr double kMedian = 0.5, kP99 = 0.99;

/// Returns the offsets of one run, in instructions.
const OffsetCounts& offsets_of(const Measurement& measurement) {
  return measurement.basis.tally.instructions;
}

/// Returns the mean over runs, with its interval if there are at least two.
Estimate mean_over(const std::vector<RunValue>& values) {
  Estimate estimate;
  estimate.value = mean_of(values);
  if (const auto interval = interval_over_runs(values)) {
    estimate.low = interval->low;
    estimate.high = interval->high;
  }
  return estimate;
}

/// Lists the numbers that `value_of` gives, for the runs that have one.
std::vector<RunValue> values_of(
    const std::vector<const Measurement*>& runs,
    const std::function<std::optional<RunValue>(const Measurement&)>& value_of) {
  std::vector<RunValue> values;
  for (const Measurement* run : runs) {
    if (const auto value = value_of(*run)) values.push_back(*value);
  }
  return values;
}

std::vector<const Measurement*> judged_runs(const ComparisonCell& cell) {
  std::vector<const Measurement*> runs;
  for (const Measurement* run : cell.runs) {
    if (hits_of(*run).total > 0) runs.push_back(run);
  }
  return runs;
}

void describe_run(const Measurement& run, ComparisonCell& cell) {
  const Share& hits = hits_of(run);
  cell.hit_ratio = Estimate{hits.value, hits.low, hits.high};
  if (!run.instructions || !run.intervals) return;
  const Distance& distance = *run.instructions;
  const auto quantile = [](double value, bool at_least, const DistanceIntervals::Quantile& ends) {
    Estimate estimate{value, {}, {}, at_least};
    if (ends.low) estimate.low = static_cast<double>(*ends.low);
    if (ends.high && !ends.high_at_least) estimate.high = static_cast<double>(*ends.high);
    return estimate;
  };
  cell.median = quantile(distance.p50, distance.p50_at_least, run.intervals->p50);
  cell.p99 = quantile(distance.p99, distance.p99_at_least, run.intervals->p99);
  cell.mean = Estimate{distance.mean, {}, {}, distance.max_at_least};
  if (const auto& interval = run.intervals->mean) {
    cell.mean->low = interval->low;
    if (!distance.max_at_least) cell.mean->high = interval->high;
  }
}

void describe_repeats(const std::vector<const Measurement*>& runs, ComparisonCell& cell) {
  cell.hit_ratio =
      mean_over(values_of(runs, [](const Measurement& run) { return run_value(hits_of(run)); }));
  const auto distance = [&](bool Distance::*at_least, const auto& value_of,
                            const auto& plain_value_of) {
    std::vector<const Measurement*> located;
    bool bounded = false;
    for (const Measurement* run : runs) {
      if (!run->instructions) continue;
      located.push_back(run);
      bounded = bounded || (*run->instructions).*at_least;
    }
    if (located.empty()) return std::optional<Estimate>();
    const std::vector<RunValue> values = values_of(located, value_of);
    Estimate estimate = mean_over(values);
    if (bounded || values.size() < located.size()) {
      estimate = mean_over(values_of(located, [&](const Measurement& run) {
        return std::optional(RunValue{plain_value_of(run), 0});
      }));
      estimate.low = estimate.high = std::nullopt;
    }
    estimate.at_least = bounded;
    return std::optional(estimate);
  };
  const auto quantile = [&](double share, bool Distance::*at_least) {
    return distance(
        at_least, [share](const Measurement& run) { return run_quantile(offsets_of(run), share); },
        [share](const Measurement& run) { return grouped_quantile(offsets_of(run), share); });
  };
  cell.median = quantile(kMedian, &Distance::p50_at_least);
  cell.p99 = quantile(kP99, &Distance::p99_at_least);
  cell.mean = distance(
      &Distance::max_at_least, [](const Measurement& run) { return run_mean(offsets_of(run)); },
      [](const Measurement& run) { return offsets_of(run).mean(); });
}

/// How much two periods may differ, as a share, to count as the same. If none was requested, they
/// are quotients of two counts.
constexpr double kPeriodTolerance = 0.01;

/// Returns the trigger that all runs of a cell have; nullopt if they have none or several.
std::optional<std::string> trigger_of(const std::vector<const Measurement*>& runs) {
  std::optional<std::string> kind;
  for (const Measurement* run : runs) {
    if (!run->trigger || (kind && *kind != run->trigger->kind)) return std::nullopt;
    kind = run->trigger->kind;
  }
  return kind;
}

/// Whether a run recorded another event of the same name, because the requested one was
/// not available. The same name can have different codes on two CPUs.
bool is_another_event(const Measurement& a, const Measurement& b) {
  const bool same = a.event.type == b.event.type && a.event.config == b.event.config;
  return (a.event.substituted || b.event.substituted) && !same;
}

std::string runway_of(const Measurement& measurement) {
  const auto& geometry = measurement.basis.geometry;
  if (!geometry) return "none";
  return fmt::format("{} of {} instructions",
                     counted(geometry->trigger_addresses.size(), "trigger"),
                     geometry->highest_offset);
}

std::string period_of(const Measurement& measurement) {
  const Period& period = measurement.period;
  if (period.requested) return fmt::format("{}", *period.requested);
  if (period.effective && std::isfinite(*period.effective)) {
    return fmt::format("~{:.0f}", *period.effective);
  }
  return "unknown";
}

bool same_period(const Period& a, const Period& b) {
  if (a.requested && b.requested) return *a.requested == *b.requested;
  const auto value = [](const Period& period) {
    return period.requested ? static_cast<double>(*period.requested) : period.effective.value_or(0);
  };
  return std::abs(value(a) - value(b)) <= kPeriodTolerance * std::max(value(a), value(b));
}

/// Whether one of two measurements is of IBS or SPE, judged by the operations that access the
/// trigger's data, and the other one is not: only their hit ratios are of the same.
bool is_mixed(const Measurement& a, const Measurement& b) {
  return is_judged_by_address(a.basis) != is_judged_by_address(b.basis);
}

/// Returns why `cell` cannot be compared with `baseline`; nullopt if it can.
std::optional<Caveat> why_not_compared(const ComparisonCell& baseline, const ComparisonCell& cell) {
  const Measurement& first = *baseline.runs.front();
  for (const Measurement* run : baseline.runs) {
    if (is_another_event(first, *run)) {
      return Caveat{Caveat::Kind::several_events, first.event.recorded, run->event.recorded};
    }
  }
  const std::optional<std::string> expected = trigger_of(baseline.runs);
  if (!expected && first.trigger) return Caveat{Caveat::Kind::several_triggers_in_baseline};
  for (const Measurement* run : cell.runs) {
    if (is_another_event(first, *run)) {
      return Caveat{Caveat::Kind::event, run->event.recorded, first.event.recorded};
    }
  }
  const std::optional<std::string> here = trigger_of(cell.runs);
  if (!here && cell.runs.front()->trigger) return Caveat{Caveat::Kind::several_triggers};
  if (!expected || !here) return Caveat{Caveat::Kind::no_trigger};
  const Measurement& other = *cell.runs.front();
  if (is_mixed(first, other)) {
    const Measurement& untagged = is_judged_by_address(first.basis) ? other : first;
    if (untagged.contract.level <= kConstantSkid) {
      return Caveat{Caveat::Kind::level_of_untagged, untagged.event.recorded};
    }
  }
  if (*here != *expected) return Caveat{Caveat::Kind::trigger, *here, *expected};
  return std::nullopt;
}

/// Lists differences that do not prevent a comparison with the baseline, each once. `baseline` is
/// its first run.
std::vector<Caveat> reservations(const Measurement& baseline, const ComparisonCell& cell) {
  using Kind = Caveat::Kind;
  std::vector<Caveat> caveats;
  const auto add = [&caveats](Caveat caveat) {
    if (std::ranges::find(caveats, caveat) == caveats.end()) caveats.push_back(std::move(caveat));
  };
  for (const Measurement* run : cell.runs) {
    if (runway_of(*run) != runway_of(baseline)) {
      add({Kind::runway, runway_of(*run), runway_of(baseline)});
    }
    if (!same_period(run->period, baseline.period)) {
      add({Kind::period, period_of(*run), period_of(baseline)});
    }
    if (run->path && baseline.path && *run->path != *baseline.path) {
      add({Kind::path, describe(*run->path), describe(*baseline.path)});
    }
    if (run->precise.recorded != baseline.precise.recorded && !is_mixed(*run, baseline)) {
      add({Kind::level, fmt::format("{}", run->precise.recorded),
           fmt::format("{}", baseline.precise.recorded)});
    }
    if (run->event.substituted) add({Kind::substituted, run->event.recorded});
    if (run->parts > 1) add({Kind::sum, fmt::format("{}", run->parts)});
    if (run->read_in_part) add({Kind::read_in_part});
  }
  return caveats;
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Compares one cell with the baseline, statistic by statistic.
class Comparer {
 public:
  Comparer(const SideFigures& baseline, const SideFigures& here, ComparisonCell& cell)
      : a_(baseline), b_(here), cell_(cell) {
    if (a_.censored_from || b_.censored_from) {
      constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
      end_ = std::min(a_.censored_from.value_or(kNever), b_.censored_from.value_or(kNever));
    }
  }

  void compare() {
    compare_shares(Statistic::hit_ratio, a_.hits, b_.hits,
                   [](const Measurement& run) { return hits_of(run); });
    const auto is_constant = [](const Measurement& run) {
      return run.contract.level == kConstantSkid && !is_judged_by_address(run.basis);
    };
    if (is_judged() && is_constant(*a_.first) && is_constant(*b_.first)) compare_constant_shares();
    if (is_mixed(*a_.first, *b_.first)) return;
    if (a_.offsets.empty() || b_.offsets.empty()) return;
    const OffsetCounts a = cut_off(a_.offsets), b = cut_off(b_.offsets);
    if (is_censored(a_.offsets) || is_censored(b_.offsets)) {
      cell_.caveats.push_back({Caveat::Kind::censored, signed_number(*end_)});
    }
    compare_means(a, b);
    compare_quantiles(Statistic::median, kMedian, a, b);
    compare_quantiles(Statistic::p99, kP99, a, b);
    compare_distributions(a, b);
  }

 private:
  bool is_judged() const { return is_judgeable(*a_.first) && is_judgeable(*b_.first); }
  bool is_censored(const OffsetCounts& offsets) const {
    return end_ && !offsets.empty() && offsets.counts().rbegin()->first >= *end_;
  }
  /// Returns `offsets` with those at or beyond `end_`, the first censored offset, counted at
  /// `end_`.
  OffsetCounts cut_off(const OffsetCounts& offsets) const {
    if (!is_censored(offsets)) return offsets;
    OffsetCounts result;
    for (const auto& [offset, count] : offsets.counts()) result.add(std::min(offset, *end_), count);
    return result;
  }

  StatisticDifference& add(Statistic statistic, double baseline, double here) {
    return cell_.differences.emplace_back(
        StatisticDifference{statistic, baseline, here, here - baseline});
  }
  static void fill(StatisticDifference& difference, const Difference& tested) {
    difference.difference = tested.value;
    difference.low = finite(tested.low);
    difference.high = finite(tested.high);
    difference.p = tested.p;
  }

  /// Tests the numbers that `value_of` gives over runs; nullopt if a run has no number.
  std::optional<Difference> test_over_runs(
      const std::function<std::optional<RunValue>(const Measurement&)>& value_of, double& baseline,
      double& here) const {
    const std::vector<RunValue> a = values_of(a_.runs, value_of);
    const std::vector<RunValue> b = values_of(b_.runs, value_of);
    if (a.size() < a_.runs.size() || b.size() < b_.runs.size()) return std::nullopt;
    baseline = mean_over(a).value;
    here = mean_over(b).value;
    return difference_over_runs(a, b);
  }

  template <typename ShareOf>
  void compare_shares(Statistic statistic, const Share& a, const Share& b, ShareOf share_of) {
    StatisticDifference& difference = add(statistic, a.value, b.value);
    if (cell_.over_runs) {
      const auto tested = test_over_runs(
          [&](const Measurement& run) { return std::optional(run_value(share_of(run))); },
          difference.baseline, difference.here);
      fill(difference, tested.value());
    } else {
      fill(difference, difference_of_shares(a, b));
    }
    if (!is_judged()) {
      difference.p.reset();
      difference.untested = Untested::any_instruction;
    }
  }

  /// Compares the shares at the offset that is most common on both sides together. The share at
  /// each side's own most common offset would be the larger the fewer samples it is chosen from.
  void compare_constant_shares() {
    OffsetCounts together = a_.offsets;
    together += b_.offsets;
    if (together.empty()) return;
    const std::int64_t mode = together.mode();
    const auto share_of = [mode](const OffsetCounts& offsets, std::uint64_t judged) {
      return wilson_interval(offsets.count_at(mode), judged);
    };
    compare_shares(Statistic::constant_share, share_of(a_.offsets, a_.hits.total),
                   share_of(b_.offsets, b_.hits.total), [&](const Measurement& run) {
                     return share_of(offsets_of(run), run.samples.judged());
                   });
  }

  /// Tests over runs the numbers that `value_of` gives for the offsets of each run.
  void test_offsets_over_runs(
      const std::function<std::optional<RunValue>(const OffsetCounts&)>& value_of,
      const OffsetCounts& a, const OffsetCounts& b, Untested none,
      StatisticDifference& difference) const {
    auto tested =
        test_over_runs([&](const Measurement& run) { return value_of(cut_off(offsets_of(run))); },
                       difference.baseline, difference.here);
    if (!tested) {
      difference.untested = none;
      return;
    }
    // Student's t has no error to compare with if neither runs nor samples vary at all. Then each
    // side has all samples at one offset, and the probability of such a division is computed.
    if (tested->p == 0) tested->p = fisher_exact_p(a.total(), a.total(), 0, b.total());
    fill(difference, *tested);
  }

  void compare_means(const OffsetCounts& a, const OffsetCounts& b) {
    StatisticDifference& difference = add(Statistic::mean, a.mean(), b.mean());
    if (!cell_.over_runs) return fill(difference, mean_difference(a, b));
    test_offsets_over_runs(run_mean, a, b, Untested::few_samples, difference);
  }

  /// Whether the upper end of a quantile's interval is a lower bound, because it is censored.
  bool ends_in_censored(const OffsetCounts& offsets, double share) const {
    const auto interval = quantile_interval(offsets, share);
    return end_ && interval && interval->high && *interval->high >= *end_;
  }

  void compare_quantiles(Statistic statistic, double share, const OffsetCounts& a,
                         const OffsetCounts& b) {
    StatisticDifference& difference =
        add(statistic, grouped_quantile(a, share), grouped_quantile(b, share));
    // A quantile is known if it is below the censored offsets.
    const auto known = [&](const OffsetCounts& offsets) {
      return !end_ || offsets.empty() || offsets.quantile(share) < *end_;
    };
    const auto all_known = [&](const SideFigures& side) {
      return std::ranges::all_of(side.runs,
                                 [&](const Measurement* run) { return known(offsets_of(*run)); });
    };
    if (!known(a) || !known(b) || (cell_.over_runs && !(all_known(a_) && all_known(b_)))) {
      difference.untested = Untested::censored;
      return;
    }
    if (cell_.over_runs) {
      return test_offsets_over_runs(
          [share](const OffsetCounts& offsets) { return run_quantile(offsets, share); }, a, b,
          Untested::no_interval, difference);
    }
    Difference tested = quantile_difference(a, b, share);
    // Censored samples bound nothing from above.
    if (ends_in_censored(a, share)) tested.low = -std::numeric_limits<double>::infinity();
    if (ends_in_censored(b, share)) tested.high = std::numeric_limits<double>::infinity();
    fill(difference, tested);
  }

  void compare_distributions(const OffsetCounts& a, const OffsetCounts& b) {
    cell_.distances = Distances{kolmogorov_smirnov(a, b), total_variation(a, b), wasserstein(a, b)};
    StatisticDifference& difference =
        add(Statistic::distribution, 0, cell_.distances->kolmogorov_smirnov);
    if (cell_.over_runs) {
      difference.untested = Untested::few_runs;
      return;
    }
    difference.p = kolmogorov_smirnov_p(a, b);
    difference.p_is_bound = *difference.p < 1;
  }

  const SideFigures& a_;
  const SideFigures& b_;
  ComparisonCell& cell_;
  std::optional<std::int64_t> end_;
};

}  // namespace

SideFigures::SideFigures(const ComparisonCell& cell)
    : runs(judged_runs(cell)), first(cell.runs.front()) {
  std::uint64_t hit = 0, judged = 0;
  for (const Measurement* run : runs) {
    hit += hits_of(*run).count;
    judged += hits_of(*run).total;
    offsets += offsets_of(*run);
    if (const auto end = run->censored_from)
      censored_from = std::min(censored_from.value_or(*end), *end);
  }
  hits = wilson_interval(hit, judged);
}

void describe(ComparisonCell& cell) {
  for (const Measurement* run : cell.runs) {
    cell.judged += hits_of(*run).total;
    ++cell.contracts[static_cast<std::size_t>(verdict_of(*run))];
    if (run->evenness) ++cell.evenness[static_cast<std::size_t>(run->evenness->verdict)];
    if (const auto& skid = run->basis.skid_in_events) cell.overshoots += skid->overshoots;
  }
  if (auto delays = delays_over(cell.runs); !delays.empty()) cell.delay = std::move(delays.front());
  const std::vector<const Measurement*> runs = judged_runs(cell);
  if (runs.size() == 1) describe_run(*runs.front(), cell);
  if (runs.size() > 1) describe_repeats(runs, cell);
}

const Share& hits_of(const Measurement& run) {
  const bool is_of_hits = run.basis.not_judged == NotJudged::none && run.contract.level >= 2 &&
                          !run.basis.ignores_level && run.samples.read() > 0;
  return is_of_hits || is_judged_by_address(run.basis) ? run.contract.share : run.hit_ratio;
}

bool is_judgeable(const Measurement& measurement) {
  return measurement.basis.not_judged == NotJudged::none || is_judged_by_address(measurement.basis);
}

void hold_against(const ComparisonCell& baseline, const SideFigures& baseline_figures,
                  ComparisonCell& cell) {
  if (auto reason = why_not_compared(baseline, cell)) {
    cell.outcome = Outcome::not_compared;
    cell.caveats.push_back(std::move(*reason));
    return;
  }
  cell.caveats = reservations(*baseline.runs.front(), cell);
  const SideFigures here(cell);
  cell.outcome = Outcome::too_few;
  if (baseline_figures.runs.empty() || here.runs.empty()) {
    cell.caveats.push_back({here.runs.empty() ? Caveat::Kind::nothing_judged
                                              : Caveat::Kind::nothing_judged_in_baseline});
    return;
  }
  cell.over_runs = baseline_figures.runs.size() > 1 || here.runs.size() > 1;
  Comparer(baseline_figures, here, cell).compare();
}

}  // namespace skid::analysis
