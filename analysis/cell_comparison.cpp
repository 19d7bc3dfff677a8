#include "analysis/cell_comparison.h"

#include "analysis/hypergeometric.h"
#include "analysis/intervals.h"
#include "analysis/two_sample.h"
#include "analysis/wording.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

/// Half widths of intervals beyond which no difference shown means nothing: of shares, and of means
/// in standard deviations of the samples.
constexpr double kWidestShare = 0.05;
constexpr double kWidestMean = 0.2;
constexpr double kMedian = 0.5, kP99 = 0.99;
constexpr int kConstantSkid = 1;  // the level that promises it

/// Periods are quotients of two counts where nobody asked for one.
constexpr double kPeriodTolerance = 0.01;

const OffsetCounts& offsets_of(const Measurement& measurement) {
  return measurement.basis.tally.instructions;
}

std::optional<std::int64_t> censored_from_of(const Measurement& measurement) {
  const auto& geometry = measurement.basis.geometry;
  return geometry ? geometry->censored_from : std::nullopt;
}

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// The mean over runs, with its interval where the runs' sampling variances are known.
Estimate over_runs(const std::vector<RunValue>& values) {
  Estimate estimate;
  for (const RunValue& run : values) {
    estimate.value += run.value / static_cast<double>(values.size());
  }
  if (const auto interval = interval_over_runs(values)) {
    estimate.low = interval->low;
    estimate.high = interval->high;
  }
  return estimate;
}

/// What `value_of` gives for each run that it gives something for.
std::vector<RunValue> values_of(
    const std::vector<const Measurement*>& runs,
    const std::function<std::optional<RunValue>(const Measurement&)>& value_of) {
  std::vector<RunValue> values;
  for (const Measurement* run : runs) {
    if (const auto value = value_of(*run)) values.push_back(*value);
  }
  return values;
}

std::vector<const Measurement*> judged_runs(const Cell& cell) {
  std::vector<const Measurement*> runs;
  for (const Measurement* run : cell.runs) {
    if (run->samples.judged() > 0) runs.push_back(run);
  }
  return runs;
}

void describe_run(const Measurement& run, Cell& cell) {
  if (run.hit_ratio.total > 0) {
    cell.hit_ratio = Estimate{run.hit_ratio.value, run.hit_ratio.low, run.hit_ratio.high, false};
  }
  if (!run.instructions) return;
  const Distance& distance = *run.instructions;
  const OffsetCounts& offsets = offsets_of(run);
  const auto quantile = [&](double share, double value, bool at_least) {
    Estimate estimate{value, {}, {}, at_least};
    const auto interval = quantile_interval(offsets, share);
    if (interval && interval->low) estimate.low = static_cast<double>(*interval->low);
    const auto end = censored_from_of(run);
    if (interval && interval->high && !(end && *interval->high >= *end)) {
      estimate.high = static_cast<double>(*interval->high);
    }
    return estimate;
  };
  cell.median = quantile(kMedian, distance.p50, distance.p50_at_least);
  cell.p99 = quantile(kP99, distance.p99, distance.p99_at_least);
  cell.mean = Estimate{distance.mean, {}, {}, distance.max_at_least};
  if (const auto interval = mean_interval(offsets)) {
    cell.mean->low = interval->low;
    if (!distance.max_at_least) cell.mean->high = interval->high;
  }
}

void describe_repeats(const std::vector<const Measurement*>& runs, Cell& cell) {
  cell.hit_ratio =
      over_runs(values_of(runs, [](const Measurement& run) { return run_value(run.hit_ratio); }));
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
    Estimate estimate = over_runs(values);
    if (bounded || values.size() < located.size()) {
      estimate = over_runs(values_of(located, [&](const Measurement& run) {
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

/// Offsets with all that lie at `end` or further counted there.
OffsetCounts cut_off(const OffsetCounts& offsets, std::int64_t end) {
  OffsetCounts result;
  for (const auto& [offset, count] : offsets.counts()) result.add(std::min(offset, end), count);
  return result;
}

/// The trigger that all runs of a cell have, or nullopt where they have none or several.
std::optional<std::string> trigger_of(const std::vector<const Measurement*>& runs) {
  std::optional<std::string> kind;
  for (const Measurement* run : runs) {
    if (!run->trigger || (kind && *kind != run->trigger->kind)) return std::nullopt;
    kind = run->trigger->kind;
  }
  return kind;
}

bool same_recorded(const EventIdentity& a, const EventIdentity& b) {
  return a.type == b.type && a.config == b.config;
}

/// Whether a run recorded another event of the same name, because the one that was asked for could
/// not be had. Names of two CPUs' events may well stand for different codes.
bool is_another_event(const Measurement& a, const Measurement& b) {
  return (a.event.swapped || b.event.swapped) && !same_recorded(a.event, b.event);
}

/// Why the runs of the baseline are no repeats of each other, or nothing.
std::string why_no_baseline(const std::vector<const Measurement*>& runs) {
  for (const Measurement* run : runs) {
    if (is_another_event(*runs.front(), *run)) {
      return fmt::format("the baseline's runs recorded several events: {} and {}",
                         runs.front()->event.recorded, run->event.recorded);
    }
  }
  if (!trigger_of(runs) && runs.front()->trigger)
    return "the baseline's runs have several triggers";
  return {};
}

/// Why two cells of one name are not the same thing, or nothing.
std::string why_not_compared(const Measurement& baseline, const Cell& cell) {
  for (const Measurement* run : cell.runs) {
    if (is_another_event(baseline, *run)) {
      return fmt::format("another event was recorded: {} here, {} in the baseline",
                         run->event.recorded, baseline.event.recorded);
    }
  }
  const std::optional<std::string> here = trigger_of(cell.runs);
  if (!here && cell.runs.front()->trigger) return "its runs have several triggers";
  if (!baseline.trigger || !here) return "nobody said where the trigger is";
  if (*here != baseline.trigger->kind) {
    return fmt::format("another trigger: {} here, {} in the baseline", *here,
                       baseline.trigger->kind);
  }
  return {};
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

/// Differences that do not forbid a comparison, each said once.
std::vector<std::string> reservations(const Measurement& baseline, const Cell& cell) {
  std::vector<std::string> remarks;
  const auto say = [&remarks](std::string remark) {
    if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) {
      remarks.push_back(std::move(remark));
    }
  };
  for (const Measurement* run : cell.runs) {
    if (runway_of(*run) != runway_of(baseline)) {
      say(fmt::format("another runway: {} here, {} in the baseline", runway_of(*run),
                      runway_of(baseline)));
    }
    if (!same_period(run->period, baseline.period)) {
      say(fmt::format("another period: {} here, {} in the baseline", period_of(*run),
                      period_of(baseline)));
    }
    if (run->precise.recorded != baseline.precise.recorded) {
      say(fmt::format("recorded at another precise level: {} here, {} in the baseline",
                      run->precise.recorded, baseline.precise.recorded));
    }
    if (run->event.swapped) {
      say(fmt::format("not the event that was asked for: {} was recorded", run->event.recorded));
    }
    if (run->parts > 1) {
      say(fmt::format("the sum of {} recordings: how much they vary is not known", run->parts));
    }
    if (run->read_in_part) say("read in part: what is missing may differ from what was read");
  }
  return remarks;
}

bool is_judgeable(const Measurement& measurement) {
  return measurement.basis.judgeable == Judgeable::yes;
}

/// Whether quantile `share` is known: it lies in front of the censored offsets.
bool is_known(const OffsetCounts& offsets, double share, std::optional<std::int64_t> end) {
  return !end || offsets.quantile(share) < *end;
}

/// The comparisons of one cell, statistic by statistic.
class Comparer {
 public:
  Comparer(const SideFigures& baseline, const SideFigures& here, std::uint64_t seed, Cell& cell)
      : a_(baseline), b_(here), seed_(seed), cell_(cell) {
    if (a_.censored_from || b_.censored_from) {
      constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
      end_ = std::min(a_.censored_from.value_or(kNever), b_.censored_from.value_or(kNever));
    }
  }

  void compare() {
    compare_shares(Statistic::hit_ratio, a_.hits, b_.hits,
                   [](const Measurement& run) { return run.hit_ratio; });
    const auto is_constant = [](const Measurement& run) {
      return run.contract.level == kConstantSkid;
    };
    if (is_judged() && is_constant(*a_.first) && is_constant(*b_.first)) {
      compare_constant_shares();
    }
    if (a_.offsets.empty() || b_.offsets.empty()) return;
    const bool cut = is_censored(a_.offsets) || is_censored(b_.offsets);
    if (cut) {
      cell_.remarks.push_back(fmt::format(
          "some skids are longer than the runway; mean and distribution are compared with all from "
          "{} on taken as {}",
          signed_number(*end_), signed_number(*end_)));
      const OffsetCounts a = cut_off(a_.offsets, *end_), b = cut_off(b_.offsets, *end_);
      compare_offsets(a, b);
    } else {
      compare_offsets(a_.offsets, b_.offsets);
    }
  }

 private:
  bool is_judged() const { return is_judgeable(*a_.first) && is_judgeable(*b_.first); }
  bool is_censored(const OffsetCounts& offsets) const {
    return end_ && !offsets.empty() && offsets.counts().rbegin()->first >= *end_;
  }
  /// The offsets of one run as they are compared.
  OffsetCounts run_offsets(const Measurement& run) const {
    return is_censored(offsets_of(run)) ? cut_off(offsets_of(run), *end_) : offsets_of(run);
  }

  StatisticDifference& add(Statistic statistic, double baseline, double here) {
    StatisticDifference& difference = cell_.differences.emplace_back();
    difference.statistic = statistic;
    difference.baseline = baseline;
    difference.here = here;
    difference.difference = here - baseline;
    return difference;
  }
  static void fill(StatisticDifference& difference, const Difference& tested) {
    difference.difference = tested.value;
    difference.low = finite(tested.low);
    difference.high = finite(tested.high);
    difference.p = tested.p;
  }

  /// The test over runs of what `value_of` gives for each; nothing where that cannot be had.
  std::optional<Difference> test_over_runs(
      const std::function<std::optional<RunValue>(const Measurement&)>& value_of, double& baseline,
      double& here) const {
    const std::vector<RunValue> a = values_of(a_.runs, value_of);
    const std::vector<RunValue> b = values_of(b_.runs, value_of);
    if (a.size() < a_.runs.size() || b.size() < b_.runs.size()) return std::nullopt;
    baseline = over_runs(a).value;
    here = over_runs(b).value;
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
      difference.untested = "not judged: hits say nothing of what is rightly sampled elsewhere";
    }
  }

  /// At the offset that is most common on both sides together: the one of each side would be the
  /// more common the fewer samples it is chosen from.
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

  void compare_offsets(const OffsetCounts& a, const OffsetCounts& b) {
    compare_means(a, b);
    compare_quantiles(Statistic::median, kMedian, a, b);
    compare_quantiles(Statistic::p99, kP99, a, b);
    compare_distributions(a, b);
  }

  /// Where neither runs nor samples vary at all, t knows no error. Then the samples, each with one
  /// offset, tell how soon chance would divide them so.
  static Difference without_certainty(Difference tested, const OffsetCounts& a,
                                      const OffsetCounts& b) {
    if (tested.p == 0) tested.p = fisher_exact_p(a.total(), a.total(), 0, b.total());
    return tested;
  }

  void compare_means(const OffsetCounts& a, const OffsetCounts& b) {
    StatisticDifference& difference = add(Statistic::mean, a.mean(), b.mean());
    if (!cell_.over_runs) return fill(difference, mean_difference(a, b, seed_));
    const auto tested =
        test_over_runs([this](const Measurement& run) { return run_mean(run_offsets(run)); },
                       difference.baseline, difference.here);
    if (tested) {
      fill(difference, without_certainty(*tested, a, b));
    } else {
      difference.untested = "a run has too few samples";
    }
  }

  /// Whether the upper end of a quantile's interval is only known to be at least so far.
  bool ends_in_censored(const OffsetCounts& offsets, double share) const {
    const auto interval = quantile_interval(offsets, share);
    return end_ && interval && interval->high && *interval->high >= *end_;
  }

  void compare_quantiles(Statistic statistic, double share, const OffsetCounts& a,
                         const OffsetCounts& b) {
    StatisticDifference& difference =
        add(statistic, grouped_quantile(a, share), grouped_quantile(b, share));
    const auto known = [&](const OffsetCounts& offsets) { return is_known(offsets, share, end_); };
    bool all_known = known(a) && known(b);
    if (cell_.over_runs) {
      for (const auto* runs : {&a_.runs, &b_.runs}) {
        for (const Measurement* run : *runs) {
          all_known = all_known && (offsets_of(*run).empty() || known(offsets_of(*run)));
        }
      }
    }
    if (!all_known) {
      difference.untested = "it lies among the censored, at an unknown distance";
      return;
    }
    if (!cell_.over_runs) {
      Difference tested = quantile_difference(a, b, share);
      // What is censored bounds nothing from above.
      if (ends_in_censored(a, share)) tested.low = -std::numeric_limits<double>::infinity();
      if (ends_in_censored(b, share)) tested.high = std::numeric_limits<double>::infinity();
      return fill(difference, tested);
    }
    const auto tested = test_over_runs(
        [&](const Measurement& run) { return run_quantile(run_offsets(run), share); },
        difference.baseline, difference.here);
    if (tested) {
      fill(difference, without_certainty(*tested, a, b));
    } else {
      difference.untested = "a run has too few samples for an interval";
    }
  }

  void compare_distributions(const OffsetCounts& a, const OffsetCounts& b) {
    cell_.distances = Distances{kolmogorov_smirnov(a, b), total_variation(a, b), wasserstein(a, b)};
    StatisticDifference& difference =
        add(Statistic::distribution, 0, cell_.distances->kolmogorov_smirnov);
    if (cell_.over_runs) {
      difference.untested = "so few runs cannot be permuted; over samples runs would differ anyway";
      return;
    }
    const KsTest test = ks_test(a, b, seed_);
    difference.p = test.p;
    difference.p_is_bound = test.is_bound;
  }

  const SideFigures& a_;
  const SideFigures& b_;
  std::uint64_t seed_;
  Cell& cell_;
  std::optional<std::int64_t> end_;
};

const StatisticDifference* find(const Cell& cell, Statistic statistic) {
  const auto found = std::find_if(
      cell.differences.begin(), cell.differences.end(),
      [&](const StatisticDifference& difference) { return difference.statistic == statistic; });
  return found == cell.differences.end() ? nullptr : &*found;
}

bool more_than_chance(const StatisticDifference* difference) {
  return difference != nullptr && difference->adjusted_p && *difference->adjusted_p < kSignificance;
}

std::size_t runs_with(const Cell& cell, Verdict verdict) {
  return cell.contracts[static_cast<std::size_t>(verdict)];
}

/// All runs of one kept their promise and some of the other broke it.
bool breaks(const Cell& kept, const Cell& broken) {
  return runs_with(kept, Verdict::kept) == kept.runs.size() &&
         runs_with(broken, Verdict::broken) > 0;
}

/// Below 0: worse; above: better; 0: neither.
int direction_of(const StatisticDifference& difference) {
  double gain = 0;
  switch (difference.statistic) {
    case Statistic::hit_ratio:
      gain = difference.here - difference.baseline;
      break;
    case Statistic::mean:
    case Statistic::median:
    case Statistic::p99:
      gain = std::abs(difference.baseline) - std::abs(difference.here);
      break;
    case Statistic::constant_share:  // another constant skid is no worse; the contract tells
    case Statistic::distribution:
      break;
  }
  return gain < 0 ? -1 : gain > 0 ? 1 : 0;
}

/// Whether an interval reaches so far to either side that no difference shown means nothing.
bool is_wide(const StatisticDifference* difference, double widest) {
  if (difference == nullptr) return false;
  if (!difference->low || !difference->high) return true;
  return (*difference->high - *difference->low) / 2 > widest;
}

bool too_few(const Cell& baseline, const ComparisonChoices& choices, const Cell& cell) {
  const StatisticDifference* hits = find(cell, Statistic::hit_ratio);
  if (hits != nullptr && hits->p && is_wide(hits, kWidestShare)) return true;
  double widest = 0;
  for (const Cell* side : {&baseline, &cell}) {
    for (const Measurement* run : side->runs) {
      if (run->instructions) widest = std::max(widest, kWidestMean * run->instructions->stddev);
    }
  }
  return is_wide(find(cell, Statistic::mean), std::max(widest, choices.least_instructions));
}

}  // namespace

void describe(Cell& cell) {
  for (const Measurement* run : cell.runs) {
    cell.judged += run->samples.judged();
    ++cell.contracts[static_cast<std::size_t>(run->contract.verdict)];
  }
  const std::vector<const Measurement*> runs = judged_runs(cell);
  if (runs.size() == 1) describe_run(*runs.front(), cell);
  if (runs.size() > 1) describe_repeats(runs, cell);
}

SideFigures::SideFigures(const Cell& cell)
    : runs(judged_runs(cell)),
      first(cell.runs.front()),
      several_things(why_no_baseline(cell.runs)) {
  std::uint64_t hit = 0, judged = 0;
  for (const Measurement* run : runs) {
    hit += run->hit_ratio.count;
    judged += run->hit_ratio.total;
    offsets += offsets_of(*run);
    const auto end = censored_from_of(*run);
    if (end) censored_from = std::min(censored_from.value_or(*end), *end);
  }
  hits = wilson_interval(hit, judged);
}

void hold_against(const SideFigures& baseline, std::uint64_t seed, Cell& cell) {
  std::string reason = baseline.several_things;
  if (reason.empty()) reason = why_not_compared(*baseline.first, cell);
  if (!reason.empty()) {
    cell.outcome = Outcome::not_compared;
    cell.remarks.push_back(reason);
    return;
  }
  cell.remarks = reservations(*baseline.first, cell);
  const SideFigures here(cell);
  cell.outcome = Outcome::too_few;
  if (baseline.runs.empty() || here.runs.empty()) {
    cell.remarks.push_back(
        fmt::format("no judged sample {}", here.runs.empty() ? "here" : "in the baseline"));
    return;
  }
  cell.over_runs = baseline.runs.size() > 1 || here.runs.size() > 1;
  Comparer(baseline, here, seed, cell).compare();
}

void conclude(const Cell& baseline, const ComparisonChoices& choices, Cell& cell) {
  if (cell.differences.empty()) return;  // not compared, or nothing to compare
  const bool judged = is_judgeable(*baseline.runs.front()) && is_judgeable(*cell.runs.front());
  bool better = false, worse = false, different = false;
  for (StatisticDifference& difference : cell.differences) {
    const double least =
        is_share(difference.statistic) ? choices.least_share : choices.least_instructions;
    difference.marked = more_than_chance(&difference) && std::abs(difference.difference) > least;
    if (!difference.marked) continue;
    different = true;
    const int direction = judged ? direction_of(difference) : 0;
    worse = worse || direction < 0;
    better = better || direction > 0;
  }
  const bool constant = cell.runs.front()->contract.level == kConstantSkid;
  if (more_than_chance(find(cell, constant ? Statistic::constant_share : Statistic::hit_ratio))) {
    cell.contract_broke = breaks(baseline, cell);
    cell.contract_mended = breaks(cell, baseline);
  }
  if (worse || cell.contract_broke) {
    cell.outcome = Outcome::worse;
  } else if (better || cell.contract_mended) {
    cell.outcome = Outcome::better;
  } else if (different) {
    cell.outcome = Outcome::different;
  } else {
    cell.outcome = too_few(baseline, choices, cell) ? Outcome::too_few : Outcome::no_difference;
  }
}

}  // namespace skid::analysis
