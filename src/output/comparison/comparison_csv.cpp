#include "src/output/comparison/comparison.h"
#include "src/output/csv.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace skid::output {
namespace {

using analysis::Comparison;
using analysis::ComparisonCell;
using analysis::ComparisonRow;
using analysis::Distances;
using analysis::Estimate;
using analysis::Statistic;
using analysis::StatisticDifference;

/// Names of columns and their fields.
using Fields = std::vector<std::pair<std::string, std::string>>;

/// Empty without an object.
template <typename T, typename Member>
std::string field_of(const std::optional<T>& object, Member T::*member) {
  return object ? csv_field((*object).*member) : std::string();
}

std::optional<StatisticDifference> difference_in(const ComparisonCell& cell, Statistic statistic) {
  for (const StatisticDifference& difference : cell.differences) {
    if (difference.statistic == statistic) return difference;
  }
  return std::nullopt;
}

template <typename Verdict, std::size_t kVerdicts>
std::string verdicts_of(const ComparisonCell& cell,
                        const std::array<std::size_t, kVerdicts>& runs) {
  std::vector<std::string> verdicts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i] == 0) continue;
    const std::string_view verdict = analysis::name_of(static_cast<Verdict>(i));
    verdicts.push_back(runs[i] == cell.runs.size() ? std::string(verdict)
                                                   : fmt::format("{} {}", runs[i], verdict));
  }
  return joined(verdicts, ";");
}

/// `found`: the cell of the side; null where the event and level are missing in it.
Fields fields_of(const Comparison& comparison, const std::vector<std::string>& inputs,
                 const ComparisonRow& row, std::size_t number, const ComparisonCell* found) {
  const analysis::Side& side = comparison.sides[number];
  const ComparisonCell cell = found == nullptr ? ComparisonCell{} : *found;
  Fields fields{
      {"side", letter_of(number)},
      {"inputs",
       csv_field(
           joined(texts_of(side.inputs, [&](std::size_t input) { return inputs[input]; }), ";"))},
      {"cpu", csv_field(side.cpu.model_name)},
      {"kernel", csv_field(side.kernel)},
      {"event", csv_field(row.event)},
      {"level", csv_field(row.level)},
      {"runs", csv_field(cell.runs.size())},
      {"judged", csv_field(cell.judged)},
      {"hit_ratio", field_of(cell.hit_ratio, &Estimate::value)},
      {"hit_ratio_low", field_of(cell.hit_ratio, &Estimate::low)},
      {"hit_ratio_high", field_of(cell.hit_ratio, &Estimate::high)},
      {"mean", field_of(cell.mean, &Estimate::value)},
      {"p50", field_of(cell.median, &Estimate::value)},
      {"p50_at_least", field_of(cell.median, &Estimate::at_least)},
      {"p99", field_of(cell.p99, &Estimate::value)},
      {"p99_at_least", field_of(cell.p99, &Estimate::at_least)},
      {"contract", verdicts_of<analysis::Verdict>(cell, cell.contracts)},
      {"baseline", letter_of(comparison.baseline)},
      {"outcome", std::string(found == nullptr ? "missing" : name_of(cell.outcome))},
      {"over_runs", found == nullptr ? std::string() : csv_field(cell.over_runs)}};
  for (const auto& [statistic, prefix] : {std::pair{Statistic::hit_ratio, "hit_ratio"},
                                          {Statistic::constant_share, "constant_share"},
                                          {Statistic::mean, "mean"},
                                          {Statistic::median, "p50"},
                                          {Statistic::p99, "p99"},
                                          {Statistic::distribution, "ks"}}) {
    const auto difference = difference_in(cell, statistic);
    const auto add = [&, prefix = prefix](const char* name, auto member) {
      fields.emplace_back(fmt::format("{}_{}", prefix, name), field_of(difference, member));
    };
    add("difference", &StatisticDifference::difference);
    add("difference_low", &StatisticDifference::low);
    add("difference_high", &StatisticDifference::high);
    add("p", &StatisticDifference::p);
    add("adjusted_p", &StatisticDifference::adjusted_p);
    add("marked", &StatisticDifference::marked);
  }
  fields.emplace_back("total_variation", field_of(cell.distances, &Distances::total_variation));
  fields.emplace_back("wasserstein", field_of(cell.distances, &Distances::wasserstein));
  fields.emplace_back("remarks", csv_field(joined(cell.remarks, "; ")));
  fields.emplace_back("evenness", verdicts_of<analysis::Evenness::Verdict>(cell, cell.evenness));
  fields.emplace_back("skid_events_p50", quantile_field(cell.overshoots, 0.50));
  fields.emplace_back("skid_events_p99", quantile_field(cell.overshoots, 0.99));
  fields.emplace_back("skid_events_max", quantile_field(cell.overshoots, 1));
  fields.emplace_back("delay_low", cell.delay ? fmt::to_string(cell.delay->delay.low) : "");
  fields.emplace_back("delay_high", cell.delay ? fmt::to_string(cell.delay->delay.high) : "");
  return fields;
}

std::string line_of(const Fields& fields, std::string Fields::value_type::*text) {
  return joined(texts_of(fields, [&](const auto& field) { return field.*text; }), ",") + '\n';
}

}  // namespace

std::string comparison_csv(const Comparison& comparison, const std::vector<std::string>& inputs) {
  using Field = Fields::value_type;
  std::string csv =
      line_of(fields_of(comparison, inputs, {}, comparison.baseline, nullptr), &Field::first);
  const auto add = [&](const ComparisonRow& row, std::size_t side, const ComparisonCell* cell) {
    csv += line_of(fields_of(comparison, inputs, row, side, cell), &Field::second);
  };
  for (const ComparisonRow& row : comparison.rows) {
    for (const ComparisonCell& cell : row.cells) add(row, cell.side, &cell);
    for (const std::size_t side : row.missing) add(row, side, nullptr);
  }
  return csv;
}

}  // namespace skid::output
