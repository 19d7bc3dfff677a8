#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/contract.h"
#include "analysis/delay.h"
#include "analysis/description.h"
#include "analysis/distance.h"
#include "analysis/distributions.h"
#include "analysis/evenness.h"
#include "analysis/event_identity.h"
#include "analysis/events_per_iteration.h"
#include "analysis/figures.h"
#include "analysis/geometry.h"
#include "analysis/intervals.h"
#include "analysis/measurement.h"
#include "analysis/offset_counts.h"
#include "analysis/repeats.h"
#include "analysis/retirement_groups.h"
#include "analysis/sample_class.h"
#include "analysis/share.h"
#include "analysis/skid_in_events.h"
#include "analysis/tally.h"
#include "analysis/wording.h"
#include "src/machine/machine.h"
#include "src/output/cell.h"
#include "src/output/name_list.h"
#include "src/output/number_text.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/report/measurement_cells.h"
#include "src/output/report/parts.h"
#include "src/output/table.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Distance;
using analysis::DistanceIntervals;
using analysis::Measurement;

/// Returns the result of `text_of` for a value, or "-".
template <typename Value, typename TextOf>
Cell known_cell(const std::optional<Value>& value, TextOf text_of) {
  return value ? Cell{text_of(*value)} : unknown_cell();
}

Cell number_cell(const std::optional<double>& value) {
  return known_cell(value, number_text);
}

Cell period_cell(const Measurement& m) {
  const auto& requested = m.period.requested;
  const auto& effective = m.period.effective;
  if (!effective || !std::isfinite(*effective)) {
    return requested ? Cell{fmt::format("{}", *requested)} : unknown_cell();
  }
  if (!requested) return {"~" + number_text(*effective)};
  // An effective period is a quotient of two counts; half a percent is no difference.
  const auto asked = static_cast<double>(*requested);
  if (std::abs(*effective - asked) <= 0.005 * asked) return {fmt::format("{}", *requested)};
  return {fmt::format("{} -> {}", *requested, number_text(*effective)), Ink::yellow};
}

/// Formats a range: "11–13"; "from 11" if it has no upper end.
Cell range_cell(const Page& page, const std::string& low, const std::string& high) {
  if (low.empty() && high.empty()) return unknown_cell();
  if (high.empty()) return {"from " + low};
  if (low.empty()) return {"to " + high};
  return {page.range(low, high)};
}

Cell quantile_interval_cell(const Page& page, const Measurement& m,
                            DistanceIntervals::Quantile DistanceIntervals::*of) {
  if (!m.intervals) return unknown_cell();
  const DistanceIntervals::Quantile& interval = (*m.intervals).*of;
  // If the lower end is a lower bound, the upper end is one, too.
  if (interval.low_at_least) return {fmt::format(">={}", *interval.low)};
  const auto end = [](std::optional<std::int64_t> offset) {
    return offset ? fmt::format("{}", *offset) : std::string();
  };
  return range_cell(page, end(interval.low),
                    (interval.high_at_least ? ">=" : "") + end(interval.high));
}

Cell mean_interval_cell(const Page& page, const Measurement& m) {
  if (!m.intervals || !m.intervals->mean) return unknown_cell();
  const analysis::Interval& interval = *m.intervals->mean;
  if (m.instructions->max_at_least) return {">=" + number_text(interval.low)};
  return range_cell(page, number_text(interval.low), number_text(interval.high));
}

Cell percent_cell(const std::optional<double>& share) {
  return known_cell(share, analysis::percent);
}

constexpr const char* kIntervalRow = "    95% interval";

/// Builds the rows of an event's table, each from one function that returns its cells.
class EventTable {
 public:
  explicit EventTable(const EventGroup& event) : event_(event) {
    for (const Column& column : event.columns) table_.header.push_back({column.label, Ink::bold});
  }

  template <typename CellOf>
  void row(std::string name, CellOf cell_of) {
    table_.rows.push_back(row_of(std::move(name), event_.columns,
                                 [&](const auto& column) { return cell_of(*column.measurement); }));
  }
  void heading(std::string name) {
    space();
    note(std::move(name));
  }
  void note(std::string text) { table_.rows.push_back({std::move(text), {}, Ink::dim}); }
  void space() { table_.rows.emplace_back(); }

  template <typename Predicate>
  bool any(Predicate predicate) const {
    return std::ranges::any_of(
        event_.columns, [&](const Column& column) { return predicate(*column.measurement); });
  }
  /// Adds a row unless all its cells are "-".
  template <typename CellOf>
  void row_if_known(std::string name, CellOf cell_of) {
    row(std::move(name), cell_of);
    const std::vector<Cell>& cells = table_.rows.back().cells;
    if (std::ranges::all_of(cells, [](const Cell& cell) { return cell.text == kUnknown; })) {
      table_.rows.pop_back();
    }
  }
  /// Adds a row of counts unless all are 0. Returns whether it was added.
  template <typename CountOf>
  bool row_unless_zero(std::string name, CountOf count_of) {
    if (!any([&](const Measurement& m) { return count_of(m) != 0; })) return false;
    row(std::move(name), [&](const Measurement& m) {
      const std::uint64_t count = count_of(m);
      return Cell{fmt::format("{}", count), count == 0 ? Ink::dim : Ink::plain};
    });
    return true;
  }
  Table take() { return std::move(table_); }

 private:
  const EventGroup& event_;
  Table table_;
};

void add_setting_rows(EventTable& table, const Page& page) {
  table.row("precise level", level_cell);
  table.row("period", period_cell);
  table.row("samples read", [](const auto& m) { return Cell{fmt::to_string(m.samples.read())}; });
  table.row("  with EXACT_IP",
            [](const Measurement& m) { return Cell{fmt::to_string(m.precise.exact_ip_samples)}; });
  if (table.any([](const Measurement& m) {
        return m.events_per_iteration.measured || m.events_per_iteration.expected;
      })) {
    table.row("events per iteration",
              [](const Measurement& m) { return number_cell(m.events_per_iteration.measured); });
    table.row("  expected", [&page](const Measurement& m) {
      const std::optional<double> expected = m.events_per_iteration.expected;
      const std::optional<double> fewest = m.events_per_iteration.fewest();
      if (!expected || *fewest == *expected) return number_cell(expected);
      return range_cell(page, number_text(*fewest), number_text(*expected));
    });
    table.row_if_known("  of the chase in caches, at most", [](const Measurement& m) {
      const auto& share = m.events_per_iteration.cached_share;
      return share && *share == 1 ? Cell{"not known"} : percent_cell(share);
    });
  }
}

void add_hit_rows(EventTable& table, const Page& page) {
  table.space();
  table.row("hit ratio", [](const Measurement& m) {
    if (m.hit_ratio.total == 0) return unknown_cell();
    return Cell{analysis::percent(m.hit_ratio.value), Ink::bold};
  });
  table.row("  95% interval", [&page](const Measurement& m) {
    return m.hit_ratio.total == 0 ? unknown_cell()
                                  : Cell{share_range(page, m.hit_ratio.low, m.hit_ratio.high)};
  });
  table.row_if_known("  expected by chance",
                     [](const Measurement& m) { return percent_cell(m.expected_hit_share); });
}

/// Returns whether nearly all samples are at one offset, and that offset.
Cell constant_skid_cell(const Measurement& m) {
  if (!m.constant_skid) return unknown_cell();
  const auto& [offset, share, verdict] = *m.constant_skid;
  if (verdict == analysis::Verdict::kept) return {"yes, " + analysis::signed_number(offset)};
  return {verdict == analysis::Verdict::broken ? "no" : "undecided"};
}

void add_distance_rows(EventTable& table, const Page& page) {
  struct Length {
    const char* name;
    double Distance::*value;
    bool Distance::*at_least;
    DistanceIntervals::Quantile DistanceIntervals::*interval;  ///< null: no interval is shown
  };
  // If the maximum is a lower bound, the mean is one, too.
  static constexpr std::array<Length, 4> kLengths{
      {{"  p50", &Distance::p50, &Distance::p50_at_least, &DistanceIntervals::p50},
       {"  p90", &Distance::p90, &Distance::p90_at_least, nullptr},
       {"  p99", &Distance::p99, &Distance::p99_at_least, &DistanceIntervals::p99},
       {"  max", &Distance::max, &Distance::max_at_least, nullptr}}};
  if (!table.any([](const Measurement& m) { return m.instructions.has_value(); })) return;
  table.heading("skid in instructions");
  for (const Length& length : kLengths) {
    table.row(length.name, [&length](const Measurement& m) {
      return distance_cell(m.instructions, length.value, length.at_least);
    });
    if (length.interval == nullptr) continue;
    table.row(kIntervalRow,
              [&](const auto& m) { return quantile_interval_cell(page, m, length.interval); });
  }
  table.row("  mean", [](const Measurement& m) {
    return distance_cell(m.instructions, &Distance::mean, &Distance::max_at_least);
  });
  table.row(kIntervalRow, [&](const Measurement& m) { return mean_interval_cell(page, m); });
  table.row("  constant", constant_skid_cell);
  table.row_if_known("  in groups of", [](const Measurement& m) {
    return m.retirement_groups ? known_cell(m.retirement_groups->strongest, fmt::to_string<int>)
                               : unknown_cell();
  });
  table.row("  p50 in bytes", [](const Measurement& m) {
    return distance_cell(m.bytes, &Distance::p50, &Distance::p50_at_least);
  });
  const bool of_arm = table.any([](const Measurement& m) { return m.cpu.arch == "aarch64"; });
  table.row_if_known(of_arm ? "  p50 in CNTVCT ticks" : "  p50 in TSC ticks", [](const auto& m) {
    return distance_cell(m.tsc_ticks, &Distance::p50, &Distance::p50_at_least);
  });
}

/// Adds rows for the skid that the counter values of a recording show. If it was not computed, the
/// reason is among the notes of the text.
void add_rows_in_events(EventTable& table) {
  const auto is_known = [](const Measurement& m) {
    return m.basis.skid_in_events && !m.basis.skid_in_events->overshoots.empty();
  };
  if (!table.any(is_known)) return;
  table.heading("skid in events");
  const auto row = [&](const char* name, auto number_of) {
    table.row(name, [&](const Measurement& m) {
      return known_cell(m.basis.skid_in_events,
                        [&](const auto& skid) { return fmt::to_string(number_of(skid)); });
    });
  };
  row("  samples", [](const auto& skid) { return skid.overshoots.total(); });
  row("  left out", [](const auto& skid) { return skid.left_out; });
  for (const auto& [name, share] :
       {std::pair{"  p50", 0.50}, std::pair{"  p99", 0.99}, std::pair{"  max", 1.0}}) {
    table.row(name, [&, share = share](const Measurement& m) {
      if (!is_known(m)) return unknown_cell();
      return Cell{fmt::to_string(m.basis.skid_in_events->overshoots.quantile(share))};
    });
  }
}

void add_breakdown_rows(const Page& page, EventTable& table) {
  table.heading("samples by class");
  std::vector<std::string> empty;
  for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
    const auto sample_class = static_cast<analysis::SampleClass>(i);
    const std::string label(analysis::describe(sample_class));
    if (!table.row_unless_zero("  " + label,
                               [&](const Measurement& m) { return m.samples[sample_class]; })) {
      empty.push_back(label);
    }
  }
  if (!empty.empty()) {
    for (const std::string& line : page.lines("none in " + joined(empty), kIndent)) {
      table.note("  " + line);
    }
  }
  table.row_unless_zero("no hits by data source",
                        [](const Measurement& m) { return m.basis.tally.contradicted_hits; });
  table.row_unless_zero("lost (LOST)", [](const Measurement& m) { return m.lost_records; });
  table.row_unless_zero("lost (LOST_SAMPLES)", [](const Measurement& m) { return m.lost_samples; });
  table.row_unless_zero("throttled", [](const Measurement& m) { return m.throttled; });
  table.row_unless_zero("of unknown events", [](const Measurement& m) { return m.unknown_ids; });
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
  if (!table.any([](const Measurement& m) { return m.basis.addresses.has_value(); })) return;
  table.heading("samples by place and data address");
  for (const auto& [place, counts] : kPlaces) {
    for (const auto& [owner, count] : kOwners) {
      table.row_unless_zero(fmt::format("  {}, {}", place, owner),
                            [counts = counts, count = count](const Measurement& m) {
                              const auto& addresses = m.basis.addresses;
                              return addresses ? addresses->samples.*counts.*count : 0;
                            });
    }
  }
  table.row_if_known("  contradicted", [](const Measurement& m) {
    if (!m.basis.addresses) return unknown_cell();
    const analysis::Share share = analysis::cause_of(*m.basis.addresses).contradicted;
    return share.total == 0 ? unknown_cell() : percent_cell(share.value);
  });
  table.row("  cause", [](const Measurement& m) {
    return known_cell(m.basis.addresses, [](const analysis::Addresses& addresses) {
      return std::string(analysis::cause_words(addresses));
    });
  });
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
    table.row(name, [i](const Measurement& m) {
      std::uint64_t all = 0;
      for (const auto& trigger : m.triggers) all += trigger.samples;
      if (i >= m.triggers.size() || all == 0) return unknown_cell();
      return Cell{percent_of(m.triggers[i].samples, all)};
    });
  }
  table.row_if_known("  largest ratio", [](const Measurement& m) {
    return number_cell(m.bias ? m.bias->largest_ratio : std::nullopt);
  });
  table.row_if_known("  chi-square p", [](const Measurement& m) {
    return m.bias ? number_cell(m.bias->p) : unknown_cell();
  });
}

/// Adds the delay, which follows from the order of samples.
void add_delay_rows(EventTable& table) {
  const auto row = [&table](const char* name, auto analysis::Delay::*member, auto text_of) {
    table.row_if_known(name, [=](const Measurement& m) {
      return known_cell(m.delay, [=](const auto& delay) { return text_of(delay.*member); });
    });
  };
  const auto number = fmt::to_string<std::uint64_t>;
  row("delay, instructions, from", &analysis::Delay::low, number);
  row("  to", &analysis::Delay::high, number);
  row("  p5", &analysis::Delay::p5, number);
  row("  p50", &analysis::Delay::p50, number);
  row("  p95", &analysis::Delay::p95, number);
  row("  next samples predicted", &analysis::Delay::predicted, analysis::percent);
  row("  if independent", &analysis::Delay::independent, analysis::percent);
}

/// Adds whether samples are distributed as events, for recordings that can show precise
/// distribution.
void add_evenness_rows(EventTable& table) {
  table.row_if_known("evenness", [](const Measurement& m) {
    return known_cell(m.evenness,
                      [](const auto& found) { return std::string(name_of(found.verdict)); });
  });
  table.row_if_known("  largest ratio to even", [](const Measurement& m) {
    return m.evenness ? number_cell(m.evenness->largest_ratio) : unknown_cell();
  });
  table.row_if_known("  chi-square p", [](const Measurement& m) {
    return known_cell(m.evenness, [](const auto& found) { return analysis::p_text(found.test.p); });
  });
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
    const analysis::Interval& interval = over_runs.interval;
    if (over_runs.at_least) {
      return Cell{">=" + number_text(is_interval ? interval.low : interval.value)};
    }
    return is_interval ? range_cell(page, number_text(interval.low), number_text(interval.high))
                       : number_cell(interval.value);
  };
  add_over_runs(table, "  skid p50, grouped", repeats, &Runs::median, length);
  add_over_runs(table, "  skid mean", repeats, &Runs::mean, length);
  return table;
}

Table event_numbers(const EventGroup& event, const Page& page) {
  EventTable table(event);
  add_setting_rows(table, page);
  add_hit_rows(table, page);
  add_distance_rows(table, page);
  add_rows_in_events(table);
  add_trigger_rows(table, event);
  add_delay_rows(table);
  add_evenness_rows(table);
  add_breakdown_rows(page, table);
  add_address_rows(table);
  return table.take();
}

}  // namespace skid::output
