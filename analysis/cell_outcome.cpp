#include "analysis/cell_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace skid::analysis {
namespace {

/// Half widths of intervals beyond which no difference shown means nothing: of shares, and of means
/// in standard deviations of the samples.
constexpr double kWidestShare = 0.05;
constexpr double kWidestMean = 0.2;

const StatisticDifference* find(const ComparisonCell& cell, Statistic statistic) {
  const auto found = std::ranges::find_if(
      cell.differences,
      [&](const StatisticDifference& difference) { return difference.statistic == statistic; });
  return found == cell.differences.end() ? nullptr : &*found;
}

bool more_than_chance(const StatisticDifference* difference) {
  return difference != nullptr && difference->adjusted_p && *difference->adjusted_p < kSignificance;
}

std::size_t runs_with(const ComparisonCell& cell, Verdict verdict) {
  return cell.contracts[static_cast<std::size_t>(verdict)];
}

/// All runs of one kept their promise and some of the other broke it.
bool breaks(const ComparisonCell& kept, const ComparisonCell& broken) {
  return runs_with(kept, Verdict::kept) == kept.runs.size() &&
         runs_with(broken, Verdict::broken) > 0;
}

bool breaks_distribution(const ComparisonCell& cell) {
  return std::ranges::any_of(
      cell.runs, [](const Measurement* run) { return verdict_of(*run) != run->contract.verdict; });
}

/// By how much it is better; below 0: worse. 0: neither. Another constant skid is no worse: the
/// contract decides.
double gain_of(const StatisticDifference& difference) {
  switch (difference.statistic) {
    case Statistic::hit_ratio:
      return difference.here - difference.baseline;
    case Statistic::mean:
    case Statistic::median:
    case Statistic::p99:
      return std::abs(difference.baseline) - std::abs(difference.here);
    case Statistic::constant_share:
    case Statistic::distribution:
      break;
  }
  return 0;
}

/// Whether an interval reaches so far to either side that no difference shown means nothing.
bool is_wide(const StatisticDifference* difference, double widest) {
  if (difference == nullptr) return false;
  if (!difference->low || !difference->high) return true;
  return (*difference->high - *difference->low) / 2 > widest;
}

bool too_few(const ComparisonCell& baseline, const ComparisonChoices& choices,
             const ComparisonCell& cell) {
  const StatisticDifference* hits = find(cell, Statistic::hit_ratio);
  if (hits != nullptr && hits->p && is_wide(hits, kWidestShare)) return true;
  double widest = 0;
  for (const ComparisonCell* side : {&baseline, &cell}) {
    for (const Measurement* run : side->runs) {
      if (run->instructions) widest = std::max(widest, kWidestMean * run->instructions->stddev);
    }
  }
  return is_wide(find(cell, Statistic::mean), std::max(widest, choices.least_instructions));
}

}  // namespace

void conclude(const ComparisonCell& baseline, const ComparisonChoices& choices,
              ComparisonCell& cell) {
  if (cell.differences.empty()) return;  // not compared, or nothing to compare
  const bool judged = is_judgeable(*baseline.runs.front()) && is_judgeable(*cell.runs.front());
  bool better = false, worse = false, different = false;
  for (StatisticDifference& difference : cell.differences) {
    const double least =
        is_share(difference.statistic) ? choices.least_share : choices.least_instructions;
    difference.marked = more_than_chance(&difference) && std::abs(difference.difference) > least;
    if (!difference.marked) continue;
    different = true;
    const double gain = judged ? gain_of(difference) : 0;
    worse = worse || gain < 0;
    better = better || gain > 0;
  }
  const bool constant = cell.runs.front()->contract.level == kConstantSkid;
  // A promise of the distribution is broken at any hit ratio.
  const bool by_distribution = breaks_distribution(baseline) || breaks_distribution(cell);
  if (by_distribution ||
      more_than_chance(find(cell, constant ? Statistic::constant_share : Statistic::hit_ratio))) {
    cell.contract_broke = breaks(baseline, cell);
    cell.contract_fixed = breaks(cell, baseline);
  }
  if (worse || cell.contract_broke) {
    cell.outcome = Outcome::worse;
  } else if (better || cell.contract_fixed) {
    cell.outcome = Outcome::better;
  } else if (different) {
    cell.outcome = Outcome::different;
  } else {
    cell.outcome = too_few(baseline, choices, cell) ? Outcome::too_few : Outcome::no_difference;
  }
}

}  // namespace skid::analysis
