// The numbers of a comparison, each stated once: of a cell its key in JSON (json_of()), its column
// of CSV (csv_columns()) and its row of `compare --details` (kRows).
#include "analysis/cell_comparison.h"
#include "analysis/comparison.h"
#include "analysis/contract.h"
#include "analysis/delay.h"
#include "analysis/evenness.h"
#include "analysis/event_identity.h"
#include "analysis/figures.h"
#include "analysis/measured_delay.h"
#include "analysis/measurement.h"
#include "analysis/offset_counts.h"
#include "analysis/share.h"
#include "analysis/tally.h"
#include "src/machine/machine.h"
#include "src/output/cell.h"
#include "src/output/comparison/comparison.h"
#include "src/output/comparison/comparison_parts.h"
#include "src/output/cpu_fields.h"
#include "src/output/csv.h"
#include "src/output/delay_json.h"
#include "src/output/delay_text.h"
#include "src/output/json_document.h"
#include "src/output/json_values.h"
#include "src/output/name_list.h"
#include "src/output/report/grouping.h"
#include "src/output/report/numbers.h"
#include "src/output/report/verdict_cells.h"
#include "src/output/table.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid {

SKID_FIELDS(analysis::Estimate, value, low, high, at_least)
SKID_FIELDS(analysis::Regressions, worse, missing, not_compared)
SKID_FIELDS(analysis::Distances, kolmogorov_smirnov, total_variation, wasserstein)

}  // namespace skid

namespace skid::output {

struct Page;

namespace {

constexpr std::array<const char*, analysis::kStatistics> kStatisticKeys{
    "hit_ratio", "constant_share", "mean", "p50", "p99", "distribution"};

Json json_of(const analysis::StatisticDifference& value, const ComparisonCell& cell) {
  FieldWriter io;
  if (value.statistic == analysis::Statistic::distribution) {
    fields(io, *cell.distances);
  } else {
    SKID_MEMBERS(baseline, here, difference, low, high);
  }
  SKID_MEMBERS_OR_NULL(p, p_is_bound, adjusted_p, marked);
  const bool is_tested = value.untested == analysis::Untested::none;
  io("untested", is_tested ? Json() : Json(name_of(value.untested)));
  return io.take();
}

Json measurements_of(const ComparisonCell& cell) {
  return array_of(cell.runs, [](const analysis::Measurement* run) -> Json {
    const analysis::Share& hits = analysis::hits_of(*run);
    return {{"run", text_or_null(run->run)},
            {"file", run->file},
            {"repeat", run->repeat},
            {"recorded", run->event.recorded},
            {"recorded_level", run->precise.recorded},
            {"samples_read", run->samples.read()},
            {"hit_ratio", hits.total > 0 ? Json(hits.value) : Json()},
            {"verdict", name_of(verdict_of(*run))}};
  });
}

Json json_of(const ComparisonCell& cell) {
  Json differences = Json::object();
  for (const analysis::StatisticDifference& difference : cell.differences) {
    const auto statistic = static_cast<std::size_t>(difference.statistic);
    differences[kStatisticKeys.at(statistic)] = json_of(difference, cell);
  }
  Json events;
  if (const auto& overshoots = cell.overshoots; !overshoots.empty()) {
    events = {{"p50", overshoots.quantile(0.50)},
              {"p99", overshoots.quantile(0.99)},
              {"max", overshoots.quantile(1)}};
  }
  return {{"side", letter_of(cell.side)},
          {"outcome", name_of(cell.outcome)},
          {"measurements", measurements_of(cell)},
          {"judged_samples", cell.judged},
          {"hit_ratio", FieldWriter::json_of(cell.hit_ratio)},
          {"skid",
           {{"mean", FieldWriter::json_of(cell.mean)},
            {"p50", FieldWriter::json_of(cell.median)},
            {"p99", FieldWriter::json_of(cell.p99)},
            {"events", std::move(events)}}},
          {"delay", cell.delay ? json_of_delay(cell.delay->delay, cell.delay->pairs) : Json()},
          {"contract", counts_by_name<analysis::Verdict>(cell.contracts, Zeros::kept)},
          {"contract_broke", cell.contract_broke},
          {"contract_mended", cell.contract_fixed},
          {"evenness", counts_by_name<analysis::Evenness::Verdict>(cell.evenness, Zeros::kept)},
          {"over", cell.differences.empty() ? Json() : Json(cell.over_runs ? "runs" : "samples")},
          {"differences", std::move(differences)},
          {"remarks", caveat_texts(cell)}};
}

Json json_of(const ComparisonRow& row) {
  return {{"event", row.event},
          {"level", row.level},
          {"in_baseline", row.in_baseline},
          {"missing_in", array_of(row.missing, letter_of)},
          {"cells", array_of(row.cells, [](const ComparisonCell& cell) { return json_of(cell); })}};
}

Json sides_json(const Comparison& comparison, const std::vector<std::string>& inputs) {
  Json sides = Json::array();
  for (const analysis::Side& side : comparison.sides) {
    sides.push_back({{"side", letter_of(sides.size())},
                     {"inputs", array_of(side.inputs, [&](auto input) { return inputs[input]; })},
                     {"cpu", FieldWriter::json_of(side.cpu)},
                     {"kernel", text_or_null(side.kernel)},
                     {"measurements", side.measurements},
                     {"synthetic", side.synthetic}});
  }
  return sides;
}

std::string csv_columns() {
  std::string columns =
      "side inputs cpu=cpu/model_name kernel event level runs judged=judged_samples "
      "hit_ratio=hit_ratio/value hit_ratio_low=hit_ratio/low hit_ratio_high=hit_ratio/high "
      "mean=skid/mean/value p50=skid/p50/value p50_at_least=skid/p50/at_least p99=skid/p99/value "
      "p99_at_least=skid/p99/at_least contract=verdicts baseline outcome over_runs";
  for (const std::string key : kStatisticKeys) {
    const bool is_ks = key == "distribution";
    columns += fmt::format(
        " {0}_difference={1}/{2} {0}_difference_low={1}/low {0}_difference_high={1}/high "
        "{0}_p={1}/p {0}_adjusted_p={1}/adjusted_p {0}_marked={1}/marked",
        is_ks ? "ks" : key, "differences/" + key, is_ks ? "kolmogorov_smirnov" : "difference");
  }
  return columns +
         " total_variation=differences/distribution/total_variation "
         "wasserstein=differences/distribution/wasserstein remarks=notes "
         "evenness=evenness_verdicts skid_events_p50=skid/events/p50 "
         "skid_events_p99=skid/events/p99 skid_events_max=skid/events/max delay_low=delay/low "
         "delay_high=delay/high";
}

/// A number of all sides at one level.
struct NumberOfSides {
  const char* title;
  Cell (*cell_of)(const ComparisonCell& cell, const Page& page);
  /// Whether a side has the number. The row is shown if any does; null: always.
  bool (*is_known)(const ComparisonCell& cell) = nullptr;
};

template <auto member>
Cell length(const ComparisonCell& cell, const Page& /*page*/) {
  return length_cell(cell.*member);
}

template <auto member, auto number = instructions_text>
Cell interval(const ComparisonCell& cell, const Page& page) {
  return interval_cell(page, cell.*member, number);
}

/// Counts runs by evenness: "even", "2 even, 1 uneven".
Cell evenness(const ComparisonCell& cell, const Page& /*page*/) {
  const auto parts = verdicts_of<analysis::Evenness::Verdict>(cell, cell.evenness);
  return parts.empty() ? unknown_cell() : Cell{joined(parts)};
}

Cell delay(const ComparisonCell& cell, const Page& /*page*/) {
  return cell.delay ? Cell{range_of(cell.delay->delay)} : unknown_cell();
}

bool has_overshoots(const ComparisonCell& cell) {
  return !cell.overshoots.empty();
}

template <int percent>
Cell overshoot(const ComparisonCell& cell, const Page& /*page*/) {
  if (!has_overshoots(cell)) return unknown_cell();
  return {std::to_string(cell.overshoots.quantile(percent / 100.0))};
}

constexpr auto kRows = std::to_array<NumberOfSides>(
    {{"  runs", [](auto& cell, auto&) { return Cell{std::to_string(cell.runs.size())}; },
      [](auto& cell) { return cell.runs.size() > 1; }},
     {"  judged samples", [](auto& cell, auto&) { return Cell{std::to_string(cell.judged)}; }},
     {"  hit ratio", [](auto& cell, auto&) { return ratio_cell(cell); }},
     {kIntervalRow, interval<&ComparisonCell::hit_ratio, share_text>},
     {"  median skid", length<&ComparisonCell::median>},
     {kIntervalRow, interval<&ComparisonCell::median>},
     {"  p99 skid", length<&ComparisonCell::p99>},
     {kIntervalRow, interval<&ComparisonCell::p99>},
     {"  contract", [](auto& cell, auto&) { return verdict_counts(cell.contracts); }},
     {"  evenness", evenness,
      [](auto& cell) { return cell.evenness != ComparisonCell().evenness; }},
     {"  delay to record", delay, [](auto& cell) { return cell.delay.has_value(); }},
     {"  median skid in events", overshoot<50>, has_overshoots},
     {"  p99 skid in events", overshoot<99>, has_overshoots}});

}  // namespace

std::string comparison_json(const Comparison& comparison, const std::vector<std::string>& inputs) {
  return document_text(
      "skidscan.compare/1",
      {{"by", name_of(comparison.choices.by)},
       {"baseline", letter_of(comparison.baseline)},
       {"min_effect",
        {{"share", comparison.choices.least_share},
         {"instructions", comparison.choices.least_instructions}}},
       {"significance", analysis::kSignificance},
       {"tests", comparison.tests},
       {"sides", sides_json(comparison, inputs)},
       {"inputs_without_measurement",
        array_of(comparison.empty, [&](std::size_t input) { return inputs[input]; })},
       {"rows", array_of(comparison.rows, [](const ComparisonRow& row) { return json_of(row); })},
       {"regressions", FieldWriter::json_of(regressions_of(comparison))}});
}

std::string comparison_csv(const Comparison& comparison, const std::vector<std::string>& inputs) {
  const std::string columns = csv_columns();
  const Json sides = sides_json(comparison, inputs);
  std::string csv = csv_header(columns) + '\n';
  const auto add = [&](const ComparisonRow& row, std::size_t side, const ComparisonCell* found) {
    const ComparisonCell cell = found == nullptr ? ComparisonCell{} : *found;
    Json fields = json_of(cell);
    fields.update(sides[side]);
    fields["inputs"] = joined(sides[side]["inputs"].get<std::vector<std::string>>(), ";");
    fields["event"] = row.event;
    fields["level"] = row.level;
    fields["runs"] = cell.runs.size();
    fields["verdicts"] = joined(verdicts_of<analysis::Verdict>(cell, cell.contracts), ";");
    fields["evenness_verdicts"] =
        joined(verdicts_of<analysis::Evenness::Verdict>(cell, cell.evenness), ";");
    fields["baseline"] = letter_of(comparison.baseline);
    fields["over_runs"] = found == nullptr ? Json() : Json(cell.over_runs);
    fields["notes"] = joined(caveat_texts(cell), "; ");
    if (found == nullptr) fields["outcome"] = "missing";
    csv += csv_fields(columns, fields) + '\n';
  };
  for (const ComparisonRow& row : comparison.rows) {
    for (const ComparisonCell& cell : row.cells) add(row, cell.side, &cell);
    for (const std::size_t side : row.missing) add(row, side, nullptr);
  }
  return csv;
}

Table comparison_numbers(const Comparison& comparison, RowIterator begin, RowIterator end,
                         const Page& page) {
  Table table;
  std::vector<std::size_t> sides;
  for (std::size_t side = 0; side < comparison.sides.size(); ++side) {
    sides.push_back(side);
    table.header.push_back({letter_of(side), Ink::bold});
  }
  const std::string baseline = letter_of(comparison.baseline);
  for (auto row = begin; row != end; ++row) {
    if (row != begin) table.rows.emplace_back();
    table.rows.push_back({level_name(row->level), {}, Ink::bold});
    for (const auto& [title, cell_of, is_known] : kRows) {
      if (is_known != nullptr && std::ranges::none_of(row->cells, is_known)) continue;
      table.rows.push_back(row_of(title, sides, [&, cell_of = cell_of](std::size_t side) {
        const ComparisonCell* cell = row->cell_of(side);
        return cell == nullptr ? unknown_cell() : cell_of(*cell, page);
      }));
    }
    table.rows.push_back(row_of("  against " + baseline, sides, [&](std::size_t side) {
      if (const ComparisonCell* cell = row->cell_of(side)) return against_cell(*cell);
      return row->in_baseline ? Cell{"only in " + baseline, Ink::yellow} : unknown_cell();
    }));
  }
  return table;
}

}  // namespace skid::output
