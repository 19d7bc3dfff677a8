#include "analysis/comparison.h"

#include "analysis/cell_comparison.h"
#include "analysis/contract.h"
#include "analysis/distance.h"
#include "analysis/event_identity.h"
#include "analysis/figures.h"
#include "analysis/measurement.h"
#include "analysis/two_sample.h"
#include "src/machine/cpu_identity.h"
#include "src/support/error.h"
#include "src/support/precise_level.h"
#include "src/support/text.h"

#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

int level_of(const Measurement& measurement) {
  return measurement.precise.requested.value_or(measurement.precise.recorded);
}

using MeasurementsBySide = std::vector<std::vector<const Measurement*>>;

/// Divides the measurements into sides, in order of first appearance.
MeasurementsBySide divide(const ComparedMeasurements& compared, Comparison& comparison) {
  MeasurementsBySide by_side;
  std::map<std::tuple<std::size_t, Cpu, std::string>, std::size_t> numbers;
  std::optional<std::size_t> baseline;
  for (std::size_t i = 0; i < compared.measurements.size(); ++i) {
    const Measurement& measurement = compared.measurements[i];
    const std::size_t input = compared.input_of[i];
    const bool by_input = comparison.choices.by == SideBy::input;
    const auto [found, is_new] = numbers.try_emplace(
        {by_input ? input : 0, measurement.cpu, measurement.kernel}, by_side.size());
    const std::size_t number = found->second;
    if (is_new) {
      by_side.emplace_back();
      Side& side = comparison.sides.emplace_back();
      side.cpu = measurement.cpu;
      side.kernel = measurement.kernel;
    }
    Side& side = comparison.sides[number];
    if (side.inputs.empty() || side.inputs.back() != input) side.inputs.push_back(input);
    side.name = side.inputs.size() == 1 ? compared.inputs[input] : std::string();
    side.synthetic = side.synthetic || measurement.synthetic;
    ++side.measurements;
    by_side[number].push_back(&measurement);
    if (!baseline && input == comparison.choices.baseline) baseline = number;
  }
  if (!baseline) {
    throw Error("{}: the baseline has no measurement",
                compared.inputs.at(comparison.choices.baseline));
  }
  comparison.baseline = *baseline;
  std::vector<bool> has_any(compared.inputs.size());
  for (const std::size_t input : compared.input_of) has_any[input] = true;
  for (std::size_t input = 0; input < has_any.size(); ++input) {
    if (!has_any[input]) comparison.empty.push_back(input);
  }
  return by_side;
}

/// Returns a text that identifies what an event of a core's PMU counts under any name; empty for
/// events of other PMUs.
std::string counted_by(const Measurement& m) {
  constexpr std::uint32_t kRaw = 4;  // PERF_TYPE_RAW
  if (m.event.type != kRaw) return {};
  return fmt::format("{}/{}/{}/{:x}/{:x}/{:x}/{}", m.cpu.vendor, m.cpu.family.value_or(0),
                     m.cpu.model.value_or(0), m.event.config, m.event.config1, m.event.config2,
                     excluded_modes(m.event));
}

/// Returns the number of an event. Events with the same label, or with the same code, share one.
std::size_t number_of(const Measurement& m, std::map<std::string, std::size_t>& events) {
  const std::size_t next = events.size();  // numbers ascend, with gaps
  const std::string code = counted_by(m);
  auto found = events.find(m.event.label);
  if (found == events.end() && !code.empty()) found = events.find(code);
  const std::size_t number = found == events.end() ? next : found->second;
  events.try_emplace(m.event.label, number);
  if (!code.empty()) events.try_emplace(code, number);
  return number;
}

/// A measurement and the row that it belongs to.
struct Placed {
  const Measurement* measurement = nullptr;
  std::size_t side = 0, event = 0;  ///< `event`: its number
  int level = 0;
};

/// Moves measurements of IBS and SPE, which claim the sampled operation at any level, to the lowest
/// level of other events in their rows that requests skid 0. Of several of a side, which differ
/// only in the level that they ignore, those with the highest are moved.
void move_tagged(std::vector<Placed>& all) {
  std::map<std::size_t, int> precise;                            // by event
  std::map<std::pair<std::size_t, std::size_t>, int> of_tagged;  // by side and event
  for (const auto& [measurement, side, event, level] : all) {
    if (is_judged_by_address(measurement->basis)) {
      int& highest = of_tagged.try_emplace({side, event}, level).first->second;
      highest = std::max(highest, level);
    } else if (level > kConstantSkid) {
      int& lowest = precise.try_emplace(event, level).first->second;
      lowest = std::min(lowest, level);
    }
  }
  for (Placed& one : all) {
    const auto tagged = of_tagged.find({one.side, one.event});
    const auto found = precise.find(one.event);
    if (tagged == of_tagged.end() || found == precise.end()) continue;
    if (is_judged_by_address(one.measurement->basis) && one.level == tagged->second) {
      one.level = found->second;
    }
  }
}

std::vector<ComparisonRow> align(const MeasurementsBySide& by_side, std::size_t baseline) {
  std::map<std::string, std::size_t> events;
  std::vector<Placed> all;
  const auto add = [&](std::size_t side) {
    for (const Measurement* measurement : by_side[side]) {
      all.push_back({measurement, side, number_of(*measurement, events), level_of(*measurement)});
    }
  };
  add(baseline);
  for (std::size_t side = 0; side < by_side.size(); ++side) {
    if (side != baseline) add(side);
  }
  move_tagged(all);
  std::map<std::pair<std::size_t, int>, ComparisonRow> by_key;
  for (const auto& [measurement, side, event, level] : all) {
    ComparisonRow& row = by_key[{event, level}];
    if (row.event.empty()) row.event = measurement->event.label;
    row.level = level;
    row.in_baseline |= side == baseline;
    // Sides come one after the other.
    if (row.cells.empty() || row.cells.back().side != side) row.cells.emplace_back().side = side;
    row.cells.back().runs.push_back(measurement);
  }
  std::vector<ComparisonRow> rows;
  for (auto& [key, row] : by_key) {
    std::ranges::sort(row.cells, {}, &ComparisonCell::side);
    for (std::size_t side = 0; row.in_baseline && side < by_side.size(); ++side) {
      if (row.cell_of(side) == nullptr) row.missing.push_back(side);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Whether a cell is of IBS or SPE, judged by data addresses.
bool is_tagged(const ComparisonCell& cell) {
  return is_judged_by_address(cell.runs.front()->basis);
}

/// Leaves out the distances of IBS and SPE, which are of all operations, beside events whose
/// distances are of those that the trigger caused.
void leave_out_other_operations(ComparisonRow& row) {
  if (std::ranges::all_of(row.cells, is_tagged)) return;
  for (ComparisonCell& cell : row.cells) {
    if (is_tagged(cell)) cell.mean = cell.median = cell.p99 = std::nullopt;
  }
}

/// Applies Holm's procedure to all tests of all cells.
void adjust(Comparison& comparison) {
  std::vector<double> p;
  const auto each_test = [&comparison](auto function) {
    for (ComparisonRow& row : comparison.rows) {
      for (ComparisonCell& cell : row.cells) {
        for (StatisticDifference& difference : cell.differences) {
          if (difference.p) function(difference);
        }
      }
    }
  };
  each_test([&p](const StatisticDifference& difference) { p.push_back(*difference.p); });
  const std::vector<double> adjusted = holm(p);
  std::size_t next = 0;
  each_test([&](StatisticDifference& difference) { difference.adjusted_p = adjusted[next++]; });
  comparison.tests = p.size();
}

/// The largest half widths of intervals with which "no difference shown" means something: those of
/// shares, and those of means in standard deviations of the samples.
constexpr double kWidestShare = 0.05;
constexpr double kWidestMean = 0.2;

const StatisticDifference* find(const ComparisonCell& cell, Statistic statistic) {
  return find_by(cell.differences, &StatisticDifference::statistic, statistic);
}

bool more_than_chance(const StatisticDifference* difference) {
  return difference != nullptr && difference->adjusted_p && *difference->adjusted_p < kSignificance;
}

std::size_t runs_with(const ComparisonCell& cell, Verdict verdict) {
  return cell.contracts[static_cast<std::size_t>(verdict)];
}

/// Whether the contract is kept in all runs of one cell and broken in some of the other.
bool breaks(const ComparisonCell& kept, const ComparisonCell& broken) {
  return runs_with(kept, Verdict::kept) == kept.runs.size() &&
         runs_with(broken, Verdict::broken) > 0;
}

bool breaks_distribution(const ComparisonCell& cell) {
  return std::ranges::any_of(
      cell.runs, [](const Measurement* run) { return verdict_of(*run) != run->contract.verdict; });
}

bool is_undecided(const ComparisonCell& cell) {
  return runs_with(cell, Verdict::undecided) > 0;
}

/// Returns by how much a statistic is better than the baseline's; below 0 it is worse, and 0 is
/// neither. Another constant skid is no worse: the contract decides.
double gain_of(const StatisticDifference& difference) {
  const Statistic statistic = difference.statistic;
  if (statistic == Statistic::hit_ratio) return difference.here - difference.baseline;
  return is_share(statistic) ? 0 : std::abs(difference.baseline) - std::abs(difference.here);
}

/// Whether an interval is so wide that "no difference shown" means nothing.
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

/// Marks differences once the p-values of all cells are adjusted, and fills the outcome.
void conclude(const ComparisonCell& baseline, const ComparisonChoices& choices,
              ComparisonCell& cell) {
  if (cell.differences.empty()) return;  // not compared, or nothing to compare
  const bool judged = is_judgeable(*baseline.runs.front()) && is_judgeable(*cell.runs.front());
  // Of operations that IBS and SPE tag, only those at the trigger are good or bad.
  const bool by_address = is_tagged(baseline) || is_tagged(cell);
  bool better = false, worse = false, different = false;
  for (StatisticDifference& difference : cell.differences) {
    const double least =
        is_share(difference.statistic) ? choices.least_share : choices.least_instructions;
    difference.marked = more_than_chance(&difference) && std::abs(difference.difference) > least;
    if (!difference.marked) continue;
    different = true;
    const bool is_valued = judged && (!by_address || difference.statistic == Statistic::hit_ratio);
    const double gain = is_valued ? gain_of(difference) : 0;
    worse = worse || gain < 0;
    better = better || gain > 0;
  }
  const bool constant = cell.runs.front()->contract.level == kConstantSkid && !by_address;
  // A contract that is broken by the distribution does not depend on the hit ratio.
  const bool by_distribution = breaks_distribution(baseline) || breaks_distribution(cell);
  if (by_distribution ||
      more_than_chance(find(cell, constant ? Statistic::constant_share : Statistic::hit_ratio))) {
    cell.contract_broke = breaks(baseline, cell);
    cell.contract_fixed = breaks(cell, baseline);
  }
  if (worse || cell.contract_broke) {
    cell.outcome = Outcome::worse;
  } else if ((better || cell.contract_fixed) && !is_undecided(baseline) && !is_undecided(cell)) {
    cell.outcome = Outcome::better;
  } else if (different) {
    cell.outcome = Outcome::different;
  } else {
    cell.outcome = too_few(baseline, choices, cell) ? Outcome::too_few : Outcome::no_difference;
  }
}

}  // namespace

bool is_share(Statistic statistic) {
  return statistic == Statistic::hit_ratio || statistic == Statistic::constant_share ||
         statistic == Statistic::distribution;
}

const ComparisonCell* ComparisonRow::cell_of(std::size_t side) const {
  const auto found = std::ranges::lower_bound(cells, side, {}, &ComparisonCell::side);
  return found != cells.end() && found->side == side ? &*found : nullptr;
}

Comparison compare(const ComparedMeasurements& compared, const ComparisonChoices& choices) {
  Comparison comparison;
  comparison.choices = choices;
  const MeasurementsBySide by_side = divide(compared, comparison);
  if (by_side.size() < 2) {
    if (choices.by == SideBy::machine) {
      throw ValueError(
          "all inputs are of one machine; compare them by input, or name recordings of another");
    }
    if (compared.inputs.size() < 2) {
      throw ValueError("{}: a single run; name at least two inputs to compare",
                       compared.inputs.front());
    }
    throw Error("nothing to compare with: all other inputs have no measurement");
  }
  comparison.rows = align(by_side, comparison.baseline);
  for (ComparisonRow& row : comparison.rows) {
    for (ComparisonCell& cell : row.cells) describe(cell);
    leave_out_other_operations(row);
    if (!row.in_baseline) continue;
    ComparisonCell* baseline = find_by(row.cells, &ComparisonCell::side, comparison.baseline);
    baseline->outcome = Outcome::baseline;
    const SideFigures figures(*baseline);
    for (ComparisonCell& cell : row.cells) {
      if (cell.side != comparison.baseline) hold_against(*baseline, figures, cell);
    }
  }
  adjust(comparison);
  for (ComparisonRow& row : comparison.rows) {
    if (!row.in_baseline) continue;
    const ComparisonCell& baseline = *row.cell_of(comparison.baseline);
    for (ComparisonCell& cell : row.cells) {
      if (cell.side != comparison.baseline) conclude(baseline, choices, cell);
    }
  }
  return comparison;
}

bool compares_anything(const Comparison& comparison) {
  return std::ranges::any_of(comparison.rows, [](const ComparisonRow& row) {
    return std::ranges::any_of(
        row.cells, [](const ComparisonCell& cell) { return !cell.differences.empty(); });
  });
}

Regressions regressions_of(const Comparison& comparison) {
  Regressions regressions;
  for (const ComparisonRow& row : comparison.rows) {
    if (!row.in_baseline) continue;
    regressions.missing += row.missing.size() + comparison.empty.size();
    const bool baseline_judged = row.cell_of(comparison.baseline)->judged > 0;
    for (const ComparisonCell& cell : row.cells) {
      if (cell.outcome == Outcome::worse) ++regressions.worse;
      if (cell.outcome == Outcome::baseline) continue;
      const bool is_unjudged = !baseline_judged || cell.judged == 0;
      if (cell.outcome == Outcome::not_compared || is_unjudged) ++regressions.not_compared;
    }
  }
  return regressions;
}

}  // namespace skid::analysis
