#include "src/output/correct/correct.h"

#include "analysis/event_identity.h"
#include "analysis/not_judged.h"
#include "analysis/wording.h"
#include "src/correct/correction.h"
#include "src/correct/skid.h"
#include "src/machine/machine.h"
#include "src/measure/run_comparison.h"
#include "src/output/cell.h"
#include "src/output/cpu_fields.h"  // IWYU pragma: keep
#include "src/output/csv.h"
#include "src/output/json_document.h"
#include "src/output/json_values.h"
#include "src/output/name_list.h"
#include "src/output/page.h"
#include "src/output/report/event_levels.h"
#include "src/output/report/grouping.h"
#include "src/output/report/sample_origin.h"
#include "src/output/shown_names.h"
#include "src/output/table.h"
#include "src/support/escape.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid {

SKID_WRITTEN_FIELDS(measure::Compared, what, profile, run, match)
SKID_WRITTEN_FIELDS(correct::Skid, instructions, source, run, compared)
SKID_WRITTEN_FIELDS(correct::Correction, run, file, synthetic, read_in_part, by, cpu, kernel,
                    remarks, events)

void fields(FieldWriter& io, const correct::Place& value) {
  const bool has_source = !value.source_file.empty();
  io("module", OrNull{value.module});
  io("address", Hex{value.address});
  io("symbol", OrNull{value.symbol});
  io("offset", value.offset);
  io("file", OrNull{value.source_file});
  io("line", has_source ? Json(value.source_line) : Json());
  SKID_MEMBERS(recorded, corrected, low, high);
}

void fields(FieldWriter& io, const correct::EventCorrection& value) {
  io("event", value.identity.label);
  io("requested", value.identity.requested);
  io("recorded", value.identity.recorded);
  SKID_MEMBERS(level, period, skid);
  io("verdict", value.skid.verdict);
  io("reason", OrNull{value.skid.reason});
  io("advice", OrNull{value.skid.advice});
  SKID_MEMBERS(samples, moved, in_place, undecided);
  io("decided_by",
     output::counts_by_name<correct::DecidedBy>(value.decided_by, output::Zeros::kept));
  SKID_MEMBERS(unexplained, unknown);
  io("not_placed",
     output::counts_by_name<analysis::NotJudged>(value.not_placed, output::Zeros::left_out));
  io("places", value.places);
}

namespace output {
namespace {

constexpr std::string_view kColumnsOfEvent =
    "run file event requested recorded_as=recorded level synthetic emulated=cpu/emulated verdict "
    "skid=skid/instructions skid_source=skid/source";
constexpr std::string_view kOwnColumns =
    "row by module symbol offset address source_file=file source_line=line recorded corrected low "
    "high moved in_place undecided by_address=decided_by/address "
    "by_branch_records=decided_by/branch_records unexplained unknown not_placed reason advice";

void add_rows(const Json& recording, const Json& event, std::string& csv) {
  const std::string prefix = csv_fields(kColumnsOfEvent, event, recording);
  const auto add = [&](const Json& row, const Json& more) {
    csv += fmt::format("{},{}\n", prefix, csv_fields(kOwnColumns, row, more));
  };
  std::uint64_t not_placed = 0;
  for (const Json& samples : event["not_placed"]) not_placed += samples.get<std::uint64_t>();
  add({{"row", "event"}, {"recorded", event["samples"]}, {"not_placed", not_placed}}, event);
  for (const Json& place : event["places"]) add({{"row", "place"}, {"by", recording["by"]}}, place);
}

using analysis::in_thousands;
using correct::Correction;
using correct::EventCorrection;
using correct::Verdict;
using Kind = ListColumn::Kind;

constexpr std::size_t kMostPlaces = 20;  // listed without --details

std::string place_text(const correct::Place& place, correct::By by) {
  std::string text;
  if (!place.symbol.empty()) {
    text = function_name(place.symbol);
    const bool has_offset = by == correct::By::instruction;
    if (has_offset) text += fmt::format("+{:#x}", place.offset);
  } else if (place.address) {
    text = fmt::format("{:#x}", *place.address);
  }
  if (!place.source_file.empty()) {
    const std::string line = fmt::format("{}:{}", file_name(place.source_file), place.source_line);
    text = by == correct::By::line ? line + "  " + text : text + "  " + line;
  }
  if (place.module.empty()) return text + (text.empty() ? "" : "  ") + "(not mapped)";
  return fmt::format("{}{}({})", text, text.empty() ? "" : "  ", file_name(place.module));
}

std::string places(const EventCorrection& event, correct::By by, const Page& page) {
  if (event.places.empty()) return {};
  List list{{{"recorded"}, {"corrected"}, {"interval", Kind::number, 1}, {"place", Kind::wrapped}}};
  const std::size_t all = event.places.size();
  const std::size_t shown = page.details ? all : std::min(all, kMostPlaces);
  for (std::size_t i = 0; i < shown; ++i) {
    const correct::Place& place = event.places[i];
    const bool is_certain = place.low == place.high;
    const Ink ink = place.recorded == place.corrected ? Ink::plain : Ink::bold;
    list.add(in_thousands(place.recorded), Cell{in_thousands(place.corrected), ink},
             is_certain
                 ? Cell{in_thousands(place.low), Ink::dim}
                 : Cell{page.range(in_thousands(place.low), in_thousands(place.high)), Ink::yellow},
             place_text(place, by));
  }
  return page.list(list) + page.left_out(all - shown, ": --details");
}

/// Counts the samples without a known place by reason; empty if there are none.
std::string not_placed_text(const EventCorrection& event) {
  return joined(counts_in_words<analysis::NotJudged>(event.not_placed));
}

/// Describes the outcome of the samples in words; counts of 0 are left out.
std::string outcome(const EventCorrection& event) {
  std::vector<std::string> parts{in_thousands(event.moved) + " moved"};
  const auto add = [&](std::uint64_t samples, std::string_view what) {
    if (samples > 0) parts.push_back(fmt::format("{} {}", in_thousands(samples), what));
  };
  add(event.in_place, "in place");
  add(event.undecided, "undecided");
  add(event.unexplained, "unexplained");
  add(event.unknown, "unknown");
  const std::string not_placed = not_placed_text(event);
  if (!not_placed.empty()) parts.push_back("not placed: " + not_placed);
  return joined(parts);
}

std::string compared_text(const measure::Compared& one) {
  using Match = measure::Compared::Match;
  const auto value = [](const std::string& text) {
    return text.empty() ? std::string("not recorded") : escape_for_terminal(text);
  };
  if (one.match == Match::same) return fmt::format("{} same", one.what);
  return fmt::format("{} {} ({}, run {})", one.what, name_of(one.match), value(one.profile),
                     value(one.run));
}

std::string skid_text(const correct::Skid& skid) {
  if (skid.source == correct::SkidSource::none) return "not a known constant";
  const std::string number = analysis::signed_number(*skid.instructions);
  if (skid.source == correct::SkidSource::measured) {
    return fmt::format("{}, measured: {}", number, escape_for_terminal(skid.run));
  }
  return fmt::format("{}, known: {}", number,
                     *skid.instructions == 0 ? "the event is sampled where it occurs"
                                             : "x86 traps after the access");
}

/// States whether the skid was corrected: "refused: …", "corrected". Escaped.
std::string verdict_text(const correct::Skid& skid) {
  std::string verdict(name_of(skid.verdict));
  std::ranges::replace(verdict, '_', ' ');
  if (!skid.reason.empty()) verdict += ": " + escape_for_terminal(skid.reason);
  return verdict;
}

/// Names the level of an event after the event: "corrected: EVENT none" would read as if nothing
/// was.
std::string level_text(const EventCorrection& event) {
  return event.level == 0 ? "level none" : level_name(event.level);
}

std::string event_text(const Correction& correction, const EventCorrection& event,
                       const Page& page) {
  const correct::Skid& skid = event.skid;
  std::string text = page.rule(fmt::format("{} {}", event.identity.label, level_text(event))) +
                     page.field("recording", escape_for_terminal(correction.file)) +
                     page.field("samples", in_thousands(event.samples)) +
                     page.field("skid", skid_text(skid)) +
                     page.field("compared", joined(texts_of(skid.compared, compared_text)));
  const Ink ink = skid.verdict == Verdict::refused             ? Ink::red
                  : skid.verdict == Verdict::corrected_in_part ? Ink::yellow
                                                               : Ink::green;
  text += page.field("verdict", verdict_text(skid), ink) +
          page.field("instead", escape_for_terminal(skid.advice));
  text += is_corrected(skid.verdict) ? page.field("outcome", outcome(event))
                                     : page.field("not placed", not_placed_text(event));
  text += page.field("decided", joined(counts_in_words<correct::DecidedBy>(event.decided_by)));
  const std::string listed = places(event, correction.by, page);
  return text + (listed.empty() ? "" : '\n' + listed);
}

/// Returns the outcome of all events, the corrected first: "corrected: r81d0 p; refused: r81d0
/// none, pp".
std::string answer(const std::vector<Correction>& corrections, const Page& page) {
  constexpr std::array kOrder{
      std::pair{Verdict::corrected, "corrected"},
      std::pair{Verdict::corrected_in_part, "corrected in part"},
      std::pair{Verdict::nothing_to_correct, "nothing to correct"},
      std::pair{Verdict::refused, "not corrected"},
  };
  std::vector<std::string> parts;
  Ink ink = Ink::green;
  for (const auto& [verdict, words] : kOrder) {
    EventLevels events;
    for (const Correction& correction : corrections) {
      for (const EventCorrection& event : correction.events) {
        if (event.skid.verdict != verdict) continue;
        events.add(event.identity.label, level_text(event));
        if (verdict == Verdict::corrected_in_part || verdict == Verdict::refused) ink = Ink::yellow;
      }
    }
    if (const std::string text = events.text(); !text.empty()) {
      parts.push_back(fmt::format("{}: {}", words, text));
    }
  }
  return page.paragraph(parts.empty() ? "no event was recorded" : joined(parts, "; "), ink);
}

}  // namespace

std::string correct_json(const std::vector<correct::Correction>& corrections,
                         const std::vector<UnreadInput>& unread) {
  return recordings_text("skidscan.correct/1", FieldWriter::json_of(corrections), unread);
}

std::string correct_csv(const std::vector<correct::Correction>& corrections) {
  std::string csv = fmt::format("{},{}\n", csv_header(kColumnsOfEvent), csv_header(kOwnColumns));
  for (const Json& recording : FieldWriter::json_of(corrections)) {
    for (const Json& event : recording["events"]) add_rows(recording, event, csv);
  }
  return csv;
}

std::string correct_text(const std::vector<Correction>& corrections, const Page& page) {
  std::string text = answer(corrections, page);
  if (const std::string origin = origin_fields(page, corrections); !origin.empty()) {
    text += '\n' + origin;
  }
  std::vector<std::string> remarks;
  for (const Correction& correction : corrections) {
    for (const EventCorrection& event : correction.events) {
      text += event_text(correction, event, page);
    }
    if (!correction.no_samples.empty()) remarks.push_back(correction.no_samples);
    remarks.insert(remarks.end(), correction.remarks.begin(), correction.remarks.end());
  }
  return text + page.warnings(remarks);
}

}  // namespace output
}  // namespace skid
