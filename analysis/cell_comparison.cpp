#include "analysis/cell_comparison.h"

#include "analysis/distributions.h"
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

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// The comparisons of one cell, statistic by statistic.
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
                   [](const Measurement& run) { return run.hit_ratio; });
    const auto is_constant = [](const Measurement& run) {
      return run.contract.level == kConstantSkid;
    };
    if (is_judged() && is_constant(*a_.first) && is_constant(*b_.first)) {
      compare_constant_shares();
    }
    if (a_.offsets.empty() || b_.offsets.empty()) return;
    const OffsetCounts a = cut_off(a_.offsets), b = cut_off(b_.offsets);
    if (is_censored(a_.offsets) || is_censored(b_.offsets)) {
      cell_.remarks.push_back(fmt::format(
          "some skids are longer than the runway; mean and distribution are compared with all from "
          "{0} on taken as {0}",
          signed_number(*end_)));
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
  /// Offsets as they are compared: all from the end on count at it.
  OffsetCounts cut_off(const OffsetCounts& offsets) const {
    if (!is_censored(offsets)) return offsets;
    OffsetCounts result;
    for (const auto& [offset, count] : offsets.counts()) result.add(std::min(offset, *end_), count);
    return result;
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

  /// The test over runs of the numbers that `value_of` gives; nothing where it cannot be done.
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
      difference.untested = "not judged: this event can be sampled at any instruction";
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

  /// Tests over runs the numbers that `value_of` gives for the offsets of each run.
  void test_offsets_over_runs(
      const std::function<std::optional<RunValue>(const OffsetCounts&)>& value_of,
      const OffsetCounts& a, const OffsetCounts& b, const char* none,
      StatisticDifference& difference) const {
    auto tested =
        test_over_runs([&](const Measurement& run) { return value_of(cut_off(offsets_of(run))); },
                       difference.baseline, difference.here);
    if (!tested) {
      difference.untested = none;
      return;
    }
    // Student's t has no error to go by where neither runs nor samples vary at all. Then the chance
    // of such a division is computed from the samples, of which each side has all at one offset.
    if (tested->p == 0) tested->p = fisher_exact_p(a.total(), a.total(), 0, b.total());
    fill(difference, *tested);
  }

  void compare_means(const OffsetCounts& a, const OffsetCounts& b) {
    StatisticDifference& difference = add(Statistic::mean, a.mean(), b.mean());
    if (!cell_.over_runs) return fill(difference, mean_difference(a, b));
    test_offsets_over_runs(run_mean, a, b, "a run has too few samples", difference);
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
    // Known: below the censored offsets.
    const auto known = [&](const OffsetCounts& offsets) {
      return !end_ || offsets.empty() || offsets.quantile(share) < *end_;
    };
    const auto all_known = [&](const SideFigures& side) {
      return std::ranges::all_of(side.runs,
                                 [&](const Measurement* run) { return known(offsets_of(*run)); });
    };
    if (!known(a) || !known(b) || (cell_.over_runs && !(all_known(a_) && all_known(b_)))) {
      difference.untested = "it is among the censored samples, at an unknown distance";
      return;
    }
    if (cell_.over_runs) {
      return test_offsets_over_runs(
          [share](const OffsetCounts& offsets) { return run_quantile(offsets, share); }, a, b,
          "a run has too few samples for an interval", difference);
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
      difference.untested =
          "runs differ by more than samples, and there are too few runs for a test";
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

void hold_against(const ComparisonCell& baseline, const SideFigures& baseline_figures,
                  ComparisonCell& cell) {
  if (std::string reason = why_not_compared(baseline, cell); !reason.empty()) {
    cell.outcome = Outcome::not_compared;
    cell.remarks.push_back(std::move(reason));
    return;
  }
  cell.remarks = reservations(*baseline.runs.front(), cell);
  const SideFigures here(cell);
  cell.outcome = Outcome::too_few;
  if (baseline_figures.runs.empty() || here.runs.empty()) {
    cell.remarks.push_back(
        fmt::format("no judged sample {}", here.runs.empty() ? "here" : "in the baseline"));
    return;
  }
  cell.over_runs = baseline_figures.runs.size() > 1 || here.runs.size() > 1;
  Comparer(baseline_figures, here, cell).compare();
}

}  // namespace skid::analysis
