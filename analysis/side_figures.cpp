#include "analysis/cell_comparison.h"

#include <algorithm>

namespace skid::analysis {
namespace {

std::vector<const Measurement*> judged_runs(const ComparisonCell& cell) {
  std::vector<const Measurement*> runs;
  for (const Measurement* run : cell.runs) {
    if (run->samples.judged() > 0) runs.push_back(run);
  }
  return runs;
}

void describe_run(const Measurement& run, ComparisonCell& cell) {
  if (run.hit_ratio.total > 0) {
    cell.hit_ratio = Estimate{run.hit_ratio.value, run.hit_ratio.low, run.hit_ratio.high};
  }
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

}  // namespace

SideFigures::SideFigures(const ComparisonCell& cell)
    : runs(judged_runs(cell)), first(cell.runs.front()) {
  std::uint64_t hit = 0, judged = 0;
  for (const Measurement* run : runs) {
    hit += run->hit_ratio.count;
    judged += run->hit_ratio.total;
    offsets += offsets_of(*run);
    if (const auto end = run->censored_from)
      censored_from = std::min(censored_from.value_or(*end), *end);
  }
  hits = wilson_interval(hit, judged);
}

void describe(ComparisonCell& cell) {
  for (const Measurement* run : cell.runs) {
    cell.judged += run->samples.judged();
    ++cell.contracts[static_cast<std::size_t>(verdict_of(*run))];
    if (run->evenness) ++cell.evenness[static_cast<std::size_t>(run->evenness->verdict)];
    if (const auto& skid = run->basis.skid_in_events) cell.overshoots += skid->overshoots;
  }
  if (auto delays = delays_over(cell.runs); !delays.empty()) cell.delay = std::move(delays.front());
  const std::vector<const Measurement*> runs = judged_runs(cell);
  if (runs.size() == 1) describe_run(*runs.front(), cell);
  if (runs.size() > 1) describe_repeats(runs, cell);
}

const OffsetCounts& offsets_of(const Measurement& measurement) {
  return measurement.basis.tally.instructions;
}

bool is_judgeable(const Measurement& measurement) {
  return measurement.basis.not_judged == NotJudged::none;
}

Estimate over_runs(const std::vector<RunValue>& values) {
  Estimate estimate;
  estimate.value = mean_of(values);
  if (const auto interval = interval_over_runs(values)) {
    estimate.low = interval->low;
    estimate.high = interval->high;
  }
  return estimate;
}

std::vector<RunValue> values_of(
    const std::vector<const Measurement*>& runs,
    const std::function<std::optional<RunValue>(const Measurement&)>& value_of) {
  std::vector<RunValue> values;
  for (const Measurement* run : runs) {
    if (const auto value = value_of(*run)) values.push_back(*value);
  }
  return values;
}

}  // namespace skid::analysis
