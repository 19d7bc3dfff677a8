#include "src/synth/recording_truth.h"

#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/support/field_writer.h"
#include "src/support/json_text.h"
#include "src/synth/loop_path.h"
#include "src/synth/model.h"
#include "src/synth/sample_truth.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::synth {

struct DrawnSample;

SKID_WRITTEN_FIELDS(DataCounts, cause, elsewhere, none)

namespace {

using nlohmann::ordered_json;

std::string hexadecimal(std::uint64_t number) {
  return fmt::format("{:#x}", number);
}

ordered_json json_of(const std::map<std::int64_t, std::uint64_t>& counts) {
  ordered_json list = ordered_json::array();
  for (const auto& [offset, count] : counts) list.push_back({offset, count});
  return list;
}

ordered_json json_of(const std::map<DrawnSample, std::uint64_t>& places) {
  ordered_json list = ordered_json::array();
  for (const auto& [sample, count] : places) {
    list.push_back({{"address", hexadecimal(sample.address)},
                    {"mode", sample.mode == perfdata::CpuMode::kernel ? "kernel" : "user"},
                    {"exact_ip", sample.exact},
                    {"count", count}});
  }
  return list;
}

ordered_json json_of(const analysis::Breakdown& breakdown) {
  ordered_json object{{"read", breakdown.read()}};
  for (std::size_t i = 0; i < analysis::kSampleClasses; ++i) {
    const auto sample_class = static_cast<analysis::SampleClass>(i);
    object[std::string(analysis::name_of(sample_class))] = breakdown[sample_class];
  }
  return object;
}

ordered_json json_of(const MeasurementTruth& measurement, const Model& model,
                     const LoopPath& path) {
  const EventModel& event = model.events[measurement.selected.event];
  const LevelModel& level = event.levels[measurement.selected.level];
  const Truth& truth = measurement.truth;
  ordered_json triggers = ordered_json::array();
  for (std::size_t i = 0; i < truth.triggers.size(); ++i) {
    triggers.push_back({{"address", hexadecimal(path.trigger_address(i))},
                        {"hits", truth.triggers[i].hits},
                        {"samples", truth.triggers[i].samples}});
  }
  return {{"event", event.name},
          {"requested", measurement.requested},
          {"recorded", measurement.attribute.name},
          {"level", level.level},
          {"precise_ip", level.precise_ip},
          {"period", event.period},
          {"samples", json_of(truth.samples)},
          {"exact_ip_samples", truth.exact_ip_samples},
          {"exact_ip_hits", truth.exact_hits},
          {"exact_ip_off_trigger", truth.exact_off_trigger},
          {"offsets", json_of(truth.offsets)},
          {"drawn", json_of(truth.drawn)},
          {"wrapped", truth.wrapped},
          {"triggers", triggers},
          {"trigger_shares", truth.trigger_shares},
          {"data_addresses", FieldWriter::json_of(truth.data)},
          {"places", json_of(truth.places)}};
}

}  // namespace

std::string truth_json(const Model& model, const runway::Target& target, const LoopPath& path,
                       const std::vector<NamedTruth>& recordings) {
  const ordered_json head = {
      {"schema", kTruthSchema},
      {"tool_version", SKIDSCAN_VERSION},
      {"synthetic", true},
      {"model", model.name},
      {"seed", model.seed},
      {"target",
       {{"trigger", runway::name_of(target.description.specification.trigger)},
        {"file", target.path.filename().string()},
        {"build_id", target.build_id}}},
  };
  // Each measurement is on a line of its own: its lists are long.
  std::string text = json_text(head, 1);
  text.resize(text.rfind("\n}"));
  text += ",\n \"recordings\": [";
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    const RecordingTruth& truth = recordings[i].truth;
    const ordered_json recording = {{"file", recordings[i].file},
                                    {"repeat", recordings[i].repeat},
                                    {"lost", truth.lost},
                                    {"lost_samples", truth.lost_samples},
                                    {"throttled", truth.throttled}};
    std::string line = json_text(recording);
    line.pop_back();
    text += fmt::format("{}\n  {},\n   \"measurements\": [", i == 0 ? "" : ",", line);
    for (std::size_t j = 0; j < truth.measurements.size(); ++j) {
      text += fmt::format("{}\n    {}", j == 0 ? "" : ",",
                          json_text(json_of(truth.measurements[j], model, path)));
    }
    text += "]}";
  }
  return text + "]\n}\n";
}

}  // namespace skid::synth
