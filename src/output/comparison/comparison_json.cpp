#include "src/output/comparison/comparison.h"
#include "src/output/json_fields.h"
#include "src/support/json_text.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using analysis::Cell;
using analysis::Comparison;
using analysis::ComparisonRow;
using analysis::Estimate;
using analysis::Measurement;
using analysis::Side;
using analysis::Statistic;
using analysis::StatisticDifference;

constexpr const char* kSchema = "skidscan.compare/1";

Json json_of(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"value", finite_or_null(estimate->value)},
          {"low", finite_or_null(estimate->low)},
          {"high", finite_or_null(estimate->high)},
          {"at_least", estimate->at_least}};
}

const char* key_of(Statistic statistic) {
  switch (statistic) {
    case Statistic::hit_ratio:
      return "hit_ratio";
    case Statistic::constant_share:
      return "constant_share";
    case Statistic::mean:
      return "mean";
    case Statistic::median:
      return "p50";
    case Statistic::p99:
      return "p99";
    case Statistic::distribution:
      return "distribution";
  }
  return "unknown";
}

Json json_of(const StatisticDifference& difference, const Cell& cell) {
  Json object;
  if (difference.statistic == Statistic::distribution) {
    object = {{"kolmogorov_smirnov", cell.distances->kolmogorov_smirnov},
              {"total_variation", cell.distances->total_variation},
              {"wasserstein", cell.distances->wasserstein}};
  } else {
    object = {{"baseline", finite_or_null(difference.baseline)},
              {"here", finite_or_null(difference.here)},
              {"difference", finite_or_null(difference.difference)},
              {"low", finite_or_null(difference.low)},
              {"high", finite_or_null(difference.high)}};
  }
  object["p"] = finite_or_null(difference.p);
  object["p_is_bound"] = difference.p_is_bound;
  object["adjusted_p"] = finite_or_null(difference.adjusted_p);
  object["marked"] = difference.marked;
  object["untested"] = text_or_null(difference.untested);
  return object;
}

Json measurements_of(const Cell& cell) {
  Json list = Json::array();
  for (const Measurement* run : cell.runs) {
    list.push_back({{"run", text_or_null(run->run)},
                    {"file", run->file},
                    {"repeat", run->repeat},
                    {"recorded", run->event.recorded},
                    {"recorded_level", run->precise.recorded},
                    {"samples_read", run->samples.read()},
                    {"hit_ratio", run->hit_ratio.total > 0 ? Json(run->hit_ratio.value) : Json()},
                    {"verdict", std::string(name_of(run->contract.verdict))}});
  }
  return list;
}

Json json_of(const Cell& cell) {
  Json differences = Json::object();
  for (const StatisticDifference& difference : cell.differences) {
    differences[key_of(difference.statistic)] = json_of(difference, cell);
  }
  Json contract = Json::object();
  for (std::size_t i = 0; i < cell.contracts.size(); ++i) {
    contract[std::string(name_of(static_cast<analysis::Verdict>(i)))] = cell.contracts[i];
  }
  return {
      {"side", letter_of(cell.side)},
      {"outcome", std::string(name_of(cell.outcome))},
      {"measurements", measurements_of(cell)},
      {"judged_samples", cell.judged},
      {"hit_ratio", json_of(cell.hit_ratio)},
      {"skid",
       {{"mean", json_of(cell.mean)}, {"p50", json_of(cell.median)}, {"p99", json_of(cell.p99)}}},
      {"contract", std::move(contract)},
      {"contract_broke", cell.contract_broke},
      {"contract_mended", cell.contract_mended},
      {"over", cell.differences.empty() ? Json() : Json(cell.over_runs ? "runs" : "samples")},
      {"differences", std::move(differences)},
      {"remarks", cell.remarks}};
}

Json json_of(const ComparisonRow& row) {
  Json cells = Json::array();
  for (const Cell& cell : row.cells) cells.push_back(json_of(cell));
  Json missing = Json::array();
  for (const std::size_t side : row.missing) missing.push_back(letter_of(side));
  return {{"event", row.event},
          {"level", row.level},
          {"in_baseline", row.in_baseline},
          {"missing_in", std::move(missing)},
          {"cells", std::move(cells)}};
}

Json json_of(const Side& side, std::size_t number, const std::vector<std::string>& inputs) {
  Json names = Json::array();
  for (const std::size_t input : side.inputs) names.push_back(inputs[input]);
  return {{"side", letter_of(number)},         {"inputs", std::move(names)},
          {"cpu", cpu_json(side.cpu)},         {"kernel", text_or_null(side.kernel)},
          {"measurements", side.measurements}, {"synthetic", side.synthetic}};
}

}  // namespace

std::string comparison_json(const Comparison& comparison, const std::vector<std::string>& inputs) {
  Json sides = Json::array(), rows = Json::array(), empty = Json::array();
  for (std::size_t i = 0; i < comparison.sides.size(); ++i) {
    sides.push_back(json_of(comparison.sides[i], i, inputs));
  }
  for (const std::size_t input : comparison.empty) empty.push_back(inputs[input]);
  for (const ComparisonRow& row : comparison.rows) rows.push_back(json_of(row));
  const analysis::Regressions regressions = regressions_of(comparison);
  const Json document = {
      {"schema", kSchema},
      {"tool_version", SKIDSCAN_VERSION},
      {"by", comparison.choices.by == analysis::SideBy::machine ? "machine" : "input"},
      {"baseline", letter_of(comparison.baseline)},
      {"min_effect",
       {{"share", comparison.choices.least_share},
        {"instructions", comparison.choices.least_instructions}}},
      {"significance", analysis::kSignificance},
      {"tests", comparison.tests},
      {"sides", std::move(sides)},
      {"inputs_without_measurement", std::move(empty)},
      {"rows", std::move(rows)},
      {"regressions",
       {{"worse", regressions.worse},
        {"missing", regressions.missing},
        {"not_compared", regressions.not_compared}}}};
  return json_text(document, 2) + '\n';
}

}  // namespace skid::output
