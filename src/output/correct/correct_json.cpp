#include "src/output/correct/correct.h"
#include "src/output/json_fields.h"

namespace skid::output {
namespace {

using correct::EventCorrection;
using correct::Place;
using correct::Skid;
using measure::Compared;

Json json_of_compared(const Compared& compared) {
  return {{"what", compared.what},
          {"profile", text_or_null(compared.profile)},
          {"run", text_or_null(compared.run)},
          {"match", name_of(compared.match)}};
}

Json json_of_skid(const Skid& skid) {
  return {{"instructions", skid.instructions},
          {"source", name_of(skid.source)},
          {"run", text_or_null(skid.run)},
          {"compared", array_of(skid.compared, json_of_compared)}};
}

Json json_of_place(const Place& place) {
  const bool has_source = !place.source_file.empty();
  Json address;
  if (place.address) address = hexadecimal(*place.address);
  return {{"module", text_or_null(place.module)},
          {"address", std::move(address)},
          {"symbol", text_or_null(place.symbol)},
          {"offset", place.offset},
          {"file", text_or_null(place.source_file)},
          {"line", has_source ? Json(place.source_line) : Json()},
          {"recorded", place.recorded},
          {"corrected", place.corrected},
          {"low", place.low},
          {"high", place.high}};
}

Json json_of_event(const EventCorrection& event) {
  Json not_placed = Json::object(), split_by = Json::object();
  for (std::size_t i = 0; i < event.not_placed.size(); ++i) {
    if (event.not_placed[i] == 0) continue;
    not_placed[std::string(analysis::name_of(static_cast<analysis::NotJudged>(i)))] =
        event.not_placed[i];
  }
  for (std::size_t i = 0; i < event.split_by.size(); ++i) {
    split_by[std::string(name_of(static_cast<correct::SplitBy>(i)))] = event.split_by[i];
  }
  return {{"event", event.event},
          {"requested", text_or_null(event.requested)},
          {"recorded", event.recorded},
          {"level", event.level},
          {"period", event.period},
          {"skid", json_of_skid(event.skid)},
          {"verdict", name_of(event.skid.verdict)},
          {"reason", text_or_null(event.skid.reason)},
          {"advice", text_or_null(event.skid.advice)},
          {"samples", event.samples},
          {"moved", event.moved},
          {"in_place", event.in_place},
          {"split", event.split},
          {"split_by", std::move(split_by)},
          {"unexplained", event.unexplained},
          {"unknown", event.unknown},
          {"not_placed", std::move(not_placed)},
          {"places", array_of(event.places, json_of_place)}};
}

Json json_of_recording(const correct::Correction& correction) {
  return {{"run", text_or_null(correction.run)},
          {"file", correction.file},
          {"synthetic", correction.synthetic},
          {"read_in_part", correction.read_in_part},
          {"by", name_of(correction.by)},
          {"cpu", FieldWriter::json_of(correction.cpu)},
          {"kernel", text_or_null(correction.kernel)},
          {"remarks", correction.remarks},
          {"events", array_of(correction.events, json_of_event)}};
}

}  // namespace

std::string correct_json(const std::vector<correct::Correction>& corrections) {
  return document_text({{"schema", "skidscan.correct/1"},
                        {"tool_version", SKIDSCAN_VERSION},
                        {"recordings", array_of(corrections, json_of_recording)}});
}

}  // namespace skid::output
