#include "src/output/correct/correct.h"
#include "src/output/csv.h"
#include "src/output/json_fields.h"

namespace skid {

SKID_WRITTEN_FIELDS(measure::Compared, what, profile, run, match)
SKID_WRITTEN_FIELDS(correct::Correction, run, file, synthetic, read_in_part, by, cpu, kernel,
                    remarks, events)

void fields(FieldWriter& io, const correct::Skid& skid) {
  io("instructions", skid.instructions);
  io("source", skid.source);
  io("run", OrNull{skid.run});
  io("compared", skid.compared);
}

void fields(FieldWriter& io, const correct::Place& place) {
  const bool has_source = !place.source_file.empty();
  io("module", OrNull{place.module});
  io("address", Hex{place.address});
  io("symbol", OrNull{place.symbol});
  io("offset", place.offset);
  io("file", OrNull{place.source_file});
  io("line", has_source ? Json(place.source_line) : Json());
  io("recorded", place.recorded);
  io("corrected", place.corrected);
  io("low", place.low);
  io("high", place.high);
}

void fields(FieldWriter& io, const correct::EventCorrection& event) {
  io("event", event.event);
  io("requested", OrNull{event.requested});
  io("recorded", event.recorded);
  io("level", event.level);
  io("period", event.period);
  io("skid", event.skid);
  io("verdict", event.skid.verdict);
  io("reason", OrNull{event.skid.reason});
  io("advice", OrNull{event.skid.advice});
  io("samples", event.samples);
  io("moved", event.moved);
  io("in_place", event.in_place);
  io("split", event.split);
  io("split_by", output::counts_by_name<correct::SplitBy>(event.split_by, output::Zeros::kept));
  io("unexplained", event.unexplained);
  io("unknown", event.unknown);
  io("not_placed",
     output::counts_by_name<analysis::NotJudged>(event.not_placed, output::Zeros::left_out));
  io("places", event.places);
}

namespace output {
namespace {

constexpr std::string_view kColumnsOfRecording = "run file";
constexpr std::string_view kColumnsOfEvent =
    "event requested recorded_as=recorded level synthetic emulated=cpu/emulated verdict "
    "skid=skid/instructions skid_source=skid/source";
constexpr std::string_view kOwnColumns =
    "row by module symbol offset address source_file=file source_line=line recorded corrected low "
    "high moved in_place split unexplained unknown not_placed reason advice";

void add_rows(const Json& recording, const Json& event, std::string& csv) {
  const std::string prefix = csv_fields(kColumnsOfRecording, recording) + ',' +
                             csv_fields(kColumnsOfEvent, event, recording);
  const auto add = [&](const Json& row, const Json& more) {
    csv += fmt::format("{},{}\n", prefix, csv_fields(kOwnColumns, row, more));
  };
  std::uint64_t not_placed = 0;
  for (const Json& samples : event["not_placed"]) not_placed += samples.get<std::uint64_t>();
  add({{"row", "event"}, {"recorded", event["samples"]}, {"not_placed", not_placed}}, event);
  for (const Json& place : event["places"]) {
    add({{"row", "place"}, {"by", recording["by"]}}, place);
  }
}

}  // namespace

std::string correct_json(const std::vector<correct::Correction>& corrections) {
  return document_text("skidscan.correct/1", {{"recordings", FieldWriter::json_of(corrections)}});
}

std::string correct_csv(const std::vector<correct::Correction>& corrections) {
  std::string csv = fmt::format("{},{},{}\n", csv_header(kColumnsOfRecording),
                                csv_header(kColumnsOfEvent), csv_header(kOwnColumns));
  for (const Json& recording : FieldWriter::json_of(corrections)) {
    for (const Json& event : recording["events"]) add_rows(recording, event, csv);
  }
  return csv;
}

}  // namespace output
}  // namespace skid
