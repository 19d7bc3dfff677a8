#include "src/output/comparison/comparison.h"
#include "src/output/csv.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::output {
namespace {

using analysis::Cell;
using analysis::Comparison;
using analysis::ComparisonRow;
using analysis::Estimate;
using analysis::Side;
using analysis::Statistic;
using analysis::StatisticDifference;

struct Named {
  Statistic statistic;
  const char* prefix;  ///< of its columns
};
constexpr std::array<Named, analysis::kStatistics> kStatisticNames{
    {{Statistic::hit_ratio, "hit_ratio"},
     {Statistic::constant_share, "constant_share"},
     {Statistic::mean, "mean"},
     {Statistic::median, "p50"},
     {Statistic::p99, "p99"},
     {Statistic::distribution, "ks"}}};

std::vector<std::string> header() {
  std::vector<std::string> names{
      "side",           "inputs",   "cpu",      "kernel",       "event",
      "level",          "runs",     "judged",   "hit_ratio",    "hit_ratio_low",
      "hit_ratio_high", "mean",     "p50",      "p50_at_least", "p99",
      "p99_at_least",   "contract", "baseline", "outcome",      "over_runs"};
  for (const Named& named : kStatisticNames) {
    for (const char* column :
         {"difference", "difference_low", "difference_high", "p", "adjusted_p", "marked"}) {
      names.push_back(fmt::format("{}_{}", named.prefix, column));
    }
  }
  names.insert(names.end(), {"total_variation", "wasserstein", "remarks"});
  return names;
}

std::string truth(bool value) {
  return value ? "true" : "false";
}

class Rows {
 public:
  Rows(const Comparison& comparison, const std::vector<std::string>& inputs)
      : comparison_(comparison), inputs_(inputs) {}

  std::string text() && {
    const std::vector<std::string> names = header();
    columns_ = names.size();
    csv_ = fmt::format("{}\n", fmt::join(names, ","));
    for (const ComparisonRow& row : comparison_.rows) {
      for (const Cell& cell : row.cells) add(row, cell);
      for (const std::size_t side : row.missing) add_missing(row, side);
    }
    return std::move(csv_);
  }

 private:
  std::vector<std::string> begin(const ComparisonRow& row, std::size_t number) const {
    const Side& side = comparison_.sides[number];
    std::vector<std::string> names;
    for (const std::size_t input : side.inputs) names.push_back(inputs_[input]);
    return {letter_of(number),
            csv_field(fmt::format("{}", fmt::join(names, ";"))),
            csv_field(side.cpu.model_name),
            csv_field(side.kernel),
            csv_field(row.event),
            fmt::format("{}", row.level)};
  }

  void add(const ComparisonRow& row, const Cell& cell) {
    std::vector<std::string> fields = begin(row, cell.side);
    const auto add_value = [&](const std::optional<Estimate>& estimate) {
      fields.push_back(csv_field(estimate ? std::optional(estimate->value) : std::nullopt));
    };
    const auto add_at_least = [&](const std::optional<Estimate>& estimate) {
      fields.push_back(estimate ? truth(estimate->at_least) : "");
    };
    fields.push_back(fmt::format("{}", cell.runs.size()));
    fields.push_back(fmt::format("{}", cell.judged));
    add_value(cell.hit_ratio);
    fields.push_back(csv_field(cell.hit_ratio ? cell.hit_ratio->low : std::nullopt));
    fields.push_back(csv_field(cell.hit_ratio ? cell.hit_ratio->high : std::nullopt));
    add_value(cell.mean);
    add_value(cell.median);
    add_at_least(cell.median);
    add_value(cell.p99);
    add_at_least(cell.p99);
    std::vector<std::string> contracts;
    for (std::size_t i = 0; i < cell.contracts.size(); ++i) {
      if (cell.contracts[i] == 0) continue;
      const std::string_view verdict = analysis::name_of(static_cast<analysis::Verdict>(i));
      contracts.push_back(cell.contracts[i] == cell.runs.size()
                              ? std::string(verdict)
                              : fmt::format("{} {}", cell.contracts[i], verdict));
    }
    fields.push_back(fmt::format("{}", fmt::join(contracts, ";")));
    fields.push_back(letter_of(comparison_.baseline));
    fields.emplace_back(analysis::name_of(cell.outcome));
    fields.push_back(truth(cell.over_runs));
    for (const Named& named : kStatisticNames) add_difference(cell, named.statistic, fields);
    const auto& distances = cell.distances;
    fields.push_back(
        csv_field(distances ? std::optional(distances->total_variation) : std::nullopt));
    fields.push_back(csv_field(distances ? std::optional(distances->wasserstein) : std::nullopt));
    fields.push_back(csv_field(fmt::format("{}", fmt::join(cell.remarks, "; "))));
    csv_ += fmt::format("{}\n", fmt::join(fields, ","));
  }

  static void add_difference(const Cell& cell, Statistic statistic,
                             std::vector<std::string>& fields) {
    constexpr std::size_t kColumns = 6;
    const auto found = std::find_if(
        cell.differences.begin(), cell.differences.end(),
        [&](const StatisticDifference& difference) { return difference.statistic == statistic; });
    if (found == cell.differences.end()) {
      fields.resize(fields.size() + kColumns);
      return;
    }
    fields.push_back(csv_field(std::optional(found->difference)));
    fields.push_back(csv_field(found->low));
    fields.push_back(csv_field(found->high));
    fields.push_back(csv_field(found->p));
    fields.push_back(csv_field(found->adjusted_p));
    fields.push_back(truth(found->marked));
  }

  void add_missing(const ComparisonRow& row, std::size_t side) {
    std::vector<std::string> fields = begin(row, side);
    const std::vector<std::string> names = header();
    const auto column = [&](std::string_view name) {
      return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    };
    fields.resize(columns_);
    fields[column("runs")] = fields[column("judged")] = "0";
    fields[column("baseline")] = letter_of(comparison_.baseline);
    fields[column("outcome")] = "missing";
    csv_ += fmt::format("{}\n", fmt::join(fields, ","));
  }

  const Comparison& comparison_;
  const std::vector<std::string>& inputs_;
  std::size_t columns_ = 0;
  std::string csv_;
};

}  // namespace

std::string comparison_csv(const Comparison& comparison, const std::vector<std::string>& inputs) {
  return Rows(comparison, inputs).text();
}

}  // namespace skid::output
