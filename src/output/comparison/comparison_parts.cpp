#include "src/output/comparison/comparison_parts.h"

#include "analysis/contract.h"
#include "analysis/wording.h"
#include "src/machine/machine.h"
#include "src/output/name_list.h"
#include "src/output/number_text.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/report/verdict_cells.h"
#include "src/output/table.h"
#include "src/support/escape.h"
#include "src/support/text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace skid::output {

using analysis::Estimate;

namespace {

/// The first outcome that is only counted; those before it are listed.
constexpr Outcome kFirstNotListed = Outcome::too_few;

/// Finds an outcome in kOutcomes.
const ShownOutcome* place_of(Outcome outcome) {
  return find_by(kOutcomes, &ShownOutcome::outcome, outcome);
}

/// Returns the first difference that is more than chance and large enough: "hit ratio -59.40
/// points".
std::string first_difference(const ComparisonCell& cell) {
  for (const analysis::StatisticDifference& difference : cell.differences) {
    if (!difference.marked || difference.statistic == analysis::Statistic::distribution) continue;
    const bool is_constant = difference.statistic == analysis::Statistic::constant_share;
    return fmt::format("{} {}", is_constant ? "same offset" : name_of(difference.statistic),
                       signed_text(difference.statistic, difference.difference, true));
  }
  return {};
}

/// Formats the range of the values in a row: "0% to 100%", or the one value that all have.
std::optional<std::string> range_text(const ComparisonRow& row,
                                      const std::optional<Estimate> ComparisonCell::*member,
                                      std::string (*number)(double)) {
  std::optional<double> low, high;
  bool at_least = false;
  for (const ComparisonCell& cell : row.cells) {
    const auto& estimate = cell.*member;
    if (!estimate) continue;
    low = std::min(low.value_or(estimate->value), estimate->value);
    high = std::max(high.value_or(estimate->value), estimate->value);
    at_least = at_least || estimate->at_least;
  }
  if (!low || !high) return std::nullopt;
  const std::string from = number(*low), to = (at_least ? ">=" : "") + number(*high);
  return from == to ? from : from + " to " + to;
}

std::string counts_text(const std::vector<std::pair<std::string, std::size_t>>& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, name));
  }
  return joined(parts);
}

std::string caveat_text(const analysis::Caveat& caveat) {
  using Kind = analysis::Caveat::Kind;
  const auto another = [&caveat](std::string_view what) {
    return fmt::format("another {}: {} here, {} in the baseline", what, caveat.here,
                       caveat.baseline);
  };
  switch (caveat.kind) {
    case Kind::several_events:
      return fmt::format("the baseline's runs recorded several events: {} and {}", caveat.here,
                         caveat.baseline);
    case Kind::several_triggers:
      return "its runs have several triggers";
    case Kind::several_triggers_in_baseline:
      return "the baseline's runs have several triggers";
    case Kind::no_trigger:
      return "no trigger address";
    case Kind::level_of_untagged:
      return fmt::format("{} requests skid 0 only from level 2 on, IBS and SPE at any level",
                         caveat.here);
    case Kind::event:
      return fmt::format("another event was recorded: {} here, {} in the baseline", caveat.here,
                         caveat.baseline);
    case Kind::trigger:
      return another("trigger");
    case Kind::runway:
      return another("runway");
    case Kind::period:
      return another("period");
    case Kind::path:
      return another("path of recording");
    case Kind::level:
      return "recorded at " + another("precise level");
    case Kind::substituted:
      return fmt::format("not the requested event: {} was recorded", caveat.here);
    case Kind::sum:
      return fmt::format("the sum of {} recordings: how much they vary is not known", caveat.here);
    case Kind::read_in_part:
      return "read in part: what is missing may differ from what was read";
    case Kind::censored:
      return fmt::format(
          "some skids are longer than the runway; mean and distribution are "
          "compared with all from {0} on taken as {0}",
          caveat.here);
    case Kind::nothing_judged:
      return "no judged sample here";
    case Kind::nothing_judged_in_baseline:
      break;
  }
  return "no judged sample in the baseline";
}

}  // namespace

std::string share_text(double share) {
  // The interval of a mean over runs can exceed the bounds of a share.
  return analysis::percent(std::clamp(share, 0.0, 1.0));
}

std::string instructions_text(double value) {
  const double rounded = std::round(value * 100) / 100;
  return number_text(rounded == 0 ? 0.0 : rounded);
}

Cell length_cell(const std::optional<Estimate>& estimate) {
  if (!estimate) return unknown_cell();
  return {(estimate->at_least ? ">=" : "") + instructions_text(estimate->value)};
}

Cell interval_cell(const Page& page, const std::optional<Estimate>& estimate,
                   std::string (*number)(double)) {
  if (!estimate || (!estimate->low && !estimate->high)) return unknown_cell();
  if (estimate->at_least && estimate->low) return {">=" + number(*estimate->low), Ink::dim};
  std::string low = estimate->low ? number(*estimate->low) : "?";
  const std::string high = estimate->high ? number(*estimate->high) : "?";
  if (low.ends_with('%') && high.ends_with('%')) low.pop_back();
  return {page.range(low, high), Ink::dim};
}

Cell ratio_cell(const ComparisonCell& cell) {
  return cell.hit_ratio ? Cell{share_text(cell.hit_ratio->value), Ink::bold} : unknown_cell();
}

Cell against_cell(const ComparisonCell& cell) {
  return {std::string(place_of(cell.outcome)->cell), ink_of(cell.outcome)};
}

Ink ink_of(Outcome outcome) {
  return place_of(outcome)->ink;
}

std::vector<std::string> caveat_texts(const ComparisonCell& cell) {
  std::vector<std::string> texts;
  texts.reserve(cell.caveats.size());
  for (const auto& caveat : cell.caveats) texts.push_back(caveat_text(caveat));
  return texts;
}

std::string signed_text(analysis::Statistic statistic, double difference, bool with_unit) {
  const double shown = analysis::is_share(statistic) ? difference * 100 : difference;
  // Small differences have two significant digits, because two decimals would be 0.
  std::string text = std::abs(shown) >= 0.1 || shown == 0 ? fmt::format("{:+.2f}", shown)
                                                          : fmt::format("{:+.2g}", shown);
  if (with_unit && analysis::is_share(statistic)) text += " points";
  return text;
}

std::string value_text(analysis::Statistic statistic, double value) {
  return analysis::is_share(statistic) ? share_text(value) : instructions_text(value);
}

std::string side_text(const Comparison& comparison, const std::vector<std::string>& inputs,
                      std::size_t number) {
  std::string text = letter_of(number);
  const analysis::Side& side = comparison.sides[number];
  if (comparison.sides.size() <= kMostSideBySide || side.inputs.empty()) return text;
  text += " (" + escape_for_terminal(inputs[side.inputs.front()]);
  if (side.inputs.size() > 1) text += fmt::format(" and {} more", side.inputs.size() - 1);
  return text + ")";
}

std::vector<const ComparisonCell*> by_severity(const ComparisonRow& row) {
  std::vector<const ComparisonCell*> shown;
  for (const ComparisonCell& cell : row.cells) {
    if (place_of(cell.outcome) < place_of(kFirstNotListed)) shown.push_back(&cell);
  }
  std::ranges::stable_sort(shown, {}, [](const ComparisonCell* cell) {
    return std::tuple(place_of(cell->outcome), cell->hit_ratio ? cell->hit_ratio->value : 2.0,
                      cell->mean ? -std::abs(cell->mean->value) : 0.0);
  });
  return shown;
}

std::string side_list(const Page& page, const Comparison& comparison,
                      const std::vector<std::string>& inputs, const std::vector<ShownRow>& rows,
                      bool with_rows) {
  using Kind = ListColumn::Kind;
  const std::string baseline = letter_of(comparison.baseline);
  List list{{{"event", Kind::shortened, 0, with_rows},
             {"level", Kind::text, 0, with_rows},
             // Names end in their distinguishing part, such as the number of a node.
             {with_rows ? "run" : "", Kind::front_shortened},
             {"hit ratio"},
             {"95% interval", Kind::number, 2},
             {"median"},
             {"p99", Kind::number, 1},
             {"contract", Kind::text, 3},
             {"against " + baseline, Kind::text},
             {"by", Kind::text, 4, with_rows}}};
  const ComparisonRow* last = nullptr;
  for (const auto& [row, cells] : rows) {
    for (const ComparisonCell* cell : cells) {
      // Rows of a page can be sorted.
      const bool is_first = page.html || last == nullptr || last->event != row->event;
      // The letter of a side stays when its name is cut.
      const std::size_t kept = letter_of(cell->side).size() + std::string_view(" (").size();
      list.add(is_first ? escape_for_terminal(row->event) : "",
               page.html || last != row ? level_name(row->level) : "",
               Cell{side_text(comparison, inputs, cell->side), Ink::plain, kept}, ratio_cell(*cell),
               interval_cell(page, cell->hit_ratio, share_text), length_cell(cell->median),
               length_cell(cell->p99), verdict_counts(cell->contracts), against_cell(*cell),
               Cell{first_difference(*cell), Ink::dim});
      last = row;
    }
  }
  return page.list(list);
}

std::string summary_of_sides(const Page& page, const Comparison& comparison,
                             const ComparisonRow& row) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const std::optional<std::string>& range) {
    if (range) parts.push_back(fmt::format("{} {}", name, *range));
  };
  add("hit ratio", range_text(row, &ComparisonCell::hit_ratio, share_text));
  add("median", range_text(row, &ComparisonCell::median, instructions_text));
  add("p99", range_text(row, &ComparisonCell::p99, instructions_text));
  std::array<std::size_t, 4> verdicts{};
  std::map<Outcome, std::size_t> outcomes;
  for (const ComparisonCell& cell : row.cells) {
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      verdicts.at(i) += cell.contracts.at(i) > 0 ? 1 : 0;
    }
    if (cell.outcome != Outcome::baseline) ++outcomes[cell.outcome];
  }
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    counts.emplace_back(analysis::name_of(static_cast<analysis::Verdict>(i)), verdicts.at(i));
  }
  parts.push_back("contract " + counts_text(counts));
  if (row.in_baseline) {
    const std::string baseline = letter_of(comparison.baseline);
    counts.clear();
    for (const auto& [outcome, count] : outcomes) {
      counts.emplace_back(place_of(outcome)->cell, count);
    }
    counts.emplace_back("only in " + baseline, row.missing.size());
    parts.push_back(fmt::format("against {}: {}", baseline, counts_text(counts)));
  }
  return page.note(fmt::format("all {}: {}", row.cells.size(), joined(parts, "; ")), Ink::plain,
                   kIndent);
}

}  // namespace skid::output
