#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/event_identity.h"
#include "analysis/geometry.h"
#include "analysis/intervals.h"
#include "analysis/measurement.h"
#include "analysis/repeats.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "analysis/wording.h"
#include "src/machine/machine.h"
#include "src/output/cell.h"
#include "src/output/name_list.h"
#include "src/output/number_text.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/report/number_cells.h"
#include "src/output/report/numbers.h"
#include "src/output/report/parts.h"
#include "src/output/table.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using analysis::Measurement;

/// Returns a value in the JSON of a measurement and the object that has it. Both are null where a
/// part is unknown. Throws Json::out_of_range if a key is missing: the place is wrong.
std::pair<const Json*, const Json*> find_place(const Json& numbers, std::string_view place) {
  const Json* object = &numbers;
  const Json* value = &numbers;
  while (!place.empty() && !value->is_null()) {
    object = value;
    value = &object->at(std::string(take_until('/', place)));
  }
  return {value, object};
}

/// Builds the rows of an event's table, with a cell for each of its measurements.
class EventTable {
 public:
  EventTable(const EventGroup& event, const Page& page) : page_(page) {
    for (const Column& column : event.columns) {
      FieldWriter io;
      add_numbers(io, *column.measurement, nullptr);
      columns_.push_back({column.measurement, io.take()});
      table_.header.push_back({column.label, Ink::bold});
    }
  }

  void heading(std::string name) {
    space();
    note(std::move(name));
  }
  void note(std::string text) { table_.rows.push_back({std::move(text), {}, Ink::dim}); }
  void space() { table_.rows.emplace_back(); }

  /// Whether the number at a place is known for any measurement.
  bool has(std::string_view place) const {
    return std::ranges::any_of(columns_, [&](const MeasuredColumn& column) {
      return !find_place(column.numbers, place).first->is_null();
    });
  }
  void add(const std::vector<NumberRow>& rows) {
    for (const NumberRow& row : rows) {
      add_row(std::string(row.title), row.shown, [&](const MeasuredColumn& column) {
        const auto [value, object] = find_place(column.numbers, row.place);
        if (value->is_null()) return unknown_cell();
        const std::string_view key = row.place.substr(row.place.rfind('/') + 1);
        return row.cell_of({*value, *object, key, *column.measurement, page_});
      });
    }
  }
  template <typename CellOf>
  void add(std::string name, CellOf cell_of) {
    add_row(std::move(name), NumberRow::Shown::always,
            [&](const MeasuredColumn& column) { return cell_of(*column.measurement); });
  }
  /// Adds a row of counts unless all are 0. Returns whether it was added.
  template <typename CountOf>
  bool add_counts(std::string name, CountOf count_of) {
    return add_row(std::move(name), NumberRow::Shown::if_any, [&](const MeasuredColumn& column) {
      return count_cell(count_of(*column.measurement));
    });
  }
  Table take() { return std::move(table_); }

 private:
  struct MeasuredColumn {
    const Measurement* measurement;
    Json numbers;
  };

  template <typename CellOf>
  bool add_row(std::string name, NumberRow::Shown shown, CellOf cell_of) {
    Row row = row_of(std::move(name), columns_, cell_of);
    const bool is_empty =
        std::ranges::all_of(row.cells, [](const Cell& cell) { return cell.ink == Ink::dim; });
    if (shown == NumberRow::Shown::if_any && is_empty) return false;
    table_.rows.push_back(std::move(row));
    return true;
  }

  const Page& page_;
  std::vector<MeasuredColumn> columns_;
  Table table_;
};

void add_breakdown_rows(const Page& page, EventTable& table) {
  table.heading("samples by class");
  std::vector<std::string> empty;
  for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
    const auto sample_class = static_cast<analysis::SampleClass>(i);
    const std::string label(analysis::describe(sample_class));
    const bool is_added = table.add_counts(
        "  " + label, [&](const Measurement& m) { return m.samples[sample_class]; });
    if (!is_added) empty.push_back(label);
  }
  if (!empty.empty()) {
    for (const std::string& line : page.lines("none in " + joined(empty), kIndent)) {
      table.note("  " + line);
    }
  }
  table.add(number_rows().losses);
}

/// Adds counts of samples by their place and by the owner of the data that they address.
void add_address_rows(EventTable& table) {
  using analysis::AddressTable;
  using analysis::OwnerCounts;
  static constexpr std::array kPlaces{std::pair{"on the trigger", &AddressTable::trigger},
                                      std::pair{"on its successor", &AddressTable::successor},
                                      std::pair{"elsewhere", &AddressTable::elsewhere},
                                      std::pair{"not judged", &AddressTable::not_judged}};
  static constexpr std::array kOwners{std::pair{"trigger's", &OwnerCounts::trigger},
                                      std::pair{"other trigger's", &OwnerCounts::other_trigger},
                                      std::pair{"something else's", &OwnerCounts::other},
                                      std::pair{"none", &OwnerCounts::none}};
  if (!table.has("address")) return;
  table.heading("samples by place and data address");
  for (const auto& [place, counts] : kPlaces) {
    for (const auto& [owner, count] : kOwners) {
      table.add_counts(fmt::format("  {}, {}", place, owner),
                       [counts = counts, count = count](const Measurement& m) {
                         const auto& addresses = m.basis.addresses;
                         return addresses ? addresses->samples.*counts.*count : 0;
                       });
    }
  }
  table.add(number_rows().addresses);
}

/// Adds the shares of several triggers, and how far they are from even.
void add_trigger_rows(EventTable& table, const EventGroup& event) {
  std::size_t most_triggers = 0;
  for (const Column& column : event.columns) {
    most_triggers = std::max(most_triggers, column.measurement->triggers.size());
  }
  if (most_triggers == 0) return;
  table.heading("samples by trigger and instructions since the one before, its runway included");
  const auto& geometry = event.columns.front().measurement->basis.geometry;
  for (std::size_t i = 0; i < most_triggers; ++i) {
    std::string name = fmt::format("  {}", i + 1);
    if (geometry && i < geometry->trigger_distances.size()) {
      const auto& distances = geometry->trigger_distances;
      name += fmt::format(" (+{})", i == 0 ? distances.back() : distances[i - 1]);
    }
    table.add(name, [i](const Measurement& m) {
      std::uint64_t all = 0;
      for (const auto& trigger : m.triggers) all += trigger.samples;
      if (i >= m.triggers.size() || all == 0) return unknown_cell();
      return Cell{percent_of(m.triggers[i].samples, all)};
    });
  }
  table.add(number_rows().triggers);
}

/// Adds two rows of a statistic over runs: its value and its interval, both made by `format`.
template <typename Format>
void add_over_runs(Table& table, const char* name,
                   const std::vector<analysis::RepeatedMeasurement>& repeats,
                   std::optional<analysis::OverRuns> analysis::RepeatedMeasurement::*of,
                   Format format) {
  for (const bool is_interval : {false, true}) {
    table.rows.push_back(row_of(is_interval ? kIntervalRow : name, repeats, [&](const auto& runs) {
      const auto& statistic = runs.*of;
      return statistic ? format(*statistic, is_interval) : unknown_cell();
    }));
  }
}

}  // namespace

std::optional<Table> repeats_numbers(const EventGroup& event, const Page& page) {
  std::vector<const Measurement*> measurements;
  for (const Column& column : event.columns) measurements.push_back(column.measurement);
  auto repeats = analysis::repeats_of(measurements);
  std::erase_if(repeats, [](const auto& of) { return !of.hit_ratio && !of.median && !of.mean; });
  if (repeats.empty()) return std::nullopt;
  Table table;
  std::map<int, int> used;
  for (const analysis::RepeatedMeasurement& of : repeats) {
    const analysis::PreciseLevel& precise = of.runs.front()->precise;
    const int level = precise.requested.value_or(precise.recorded);
    // Repeats of another period or trigger, or recorded as another event, have the same level.
    table.header.push_back({numbered(level_name(level), ++used[level]), Ink::bold});
  }
  table.rows.push_back(
      row_of("runs", repeats, [](const auto& of) { return Cell{fmt::to_string(of.runs.size())}; }));
  using Runs = analysis::RepeatedMeasurement;
  add_over_runs(table, "  hit ratio", repeats, &Runs::hit_ratio,
                [&page](const analysis::OverRuns& over_runs, bool is_interval) {
                  const auto& [value, low, high] = over_runs.interval;
                  return is_interval ? Cell{share_range(page, low, high)}
                                     : Cell{analysis::percent(value), Ink::bold};
                });
  const auto length = [&page](const analysis::OverRuns& over_runs, bool is_interval) {
    const auto& [value, low, high] = over_runs.interval;
    return is_interval ? range_cell(page, low, high, over_runs.at_least)
                       : length_cell(value, over_runs.at_least);
  };
  add_over_runs(table, "  skid p50, grouped", repeats, &Runs::median, length);
  add_over_runs(table, "  skid mean", repeats, &Runs::mean, length);
  return table;
}

Table event_numbers(const EventGroup& event, const Page& page) {
  const NumberRows& rows = number_rows();
  EventTable table(event, page);
  table.add(rows.settings);
  if (table.has("events_per_iteration/measured") || table.has("events_per_iteration/expected")) {
    table.add(rows.iteration);
  }
  table.space();
  table.add(rows.hits);
  if (table.has("skid/instructions/p50")) {
    table.heading("skid in instructions");
    table.add(rows.skid);
  }
  // If the skid in events was not computed, the reason is among the notes of the text.
  if (table.has("skid/events/p50")) {
    table.heading("skid in events");
    table.add(rows.skid_in_events);
  }
  add_trigger_rows(table, event);
  table.add(rows.delay);
  table.add(rows.evenness);
  add_breakdown_rows(page, table);
  add_address_rows(table);
  return table.take();
}

}  // namespace skid::output
