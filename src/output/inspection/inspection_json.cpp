#include "src/output/inspection/inspection.h"
#include "src/output/json_fields.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace skid::output {
namespace {

using perfdata::Attribute;
using perfdata::Features;

Json event_json(const Inspection& inspection, std::size_t index) {
  const Attribute& attribute = inspection.recording.attributes()[index];
  const auto& events = inspection.record_counts.events;
  const auto counts = index < events.size() ? events[index] : perfdata::RecordCounts::Event{};
  const Json value = attribute.period_or_frequency;
  return {{"index", index},
          {"name", attribute.name},
          {"type", attribute.type},
          {"source", text_or_null(source_of(attribute, inspection.recording.features()))},
          {"config", hexadecimal(attribute.config)},
          {"config1", hexadecimal(attribute.config1)},
          {"config2", hexadecimal(attribute.config2)},
          {"sample_type", perfdata::names_of_sample_type(attribute.sample_type)},
          {"period", attribute.frequency ? Json() : value},
          {"frequency", attribute.frequency ? value : Json()},
          {"precise_ip", attribute.precise_ip},
          {"exclude_user", attribute.exclude_user},
          {"exclude_kernel", attribute.exclude_kernel},
          {"ids", attribute.ids.size()},
          {"samples", counts.samples},
          {"exact_ip_samples", counts.exact_ip},
          {"measured", !attribute.is_dummy()},
          {"precision_lost", text_or_null(precision_lost(inspection, index))}};
}

/// Of names and values.
Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  return array_of(pairs, [](const auto& pair) -> Json {
    return {{"name", pair.first}, {"value", pair.second}};
  });
}

void add_machine(const Features& features, Json& json) {
  json["hostname"] = text_or_null(features.hostname);
  json["os_release"] = text_or_null(features.os_release);
  json["arch"] = text_or_null(features.arch);
  json["cpu_description"] = text_or_null(features.cpu_description);
  json["cpuid"] = text_or_null(features.cpuid);
  json["cpus"] = nullptr;
  if (const auto& counts = features.cpu_counts) {
    json["cpus"] = {{"available", counts->available}, {"online", counts->online}};
  }
  json["total_memory_kib"] = features.total_memory_kib;
  json["pmu_mappings"] = array_of(features.pmu_mappings, [](const auto& mapping) -> Json {
    return {{"type", mapping.first}, {"name", mapping.second}};
  });
  json["cpu_pmu_capabilities"] = nullptr;
  if (features.cpu_pmu_capabilities) {
    json["cpu_pmu_capabilities"] = pairs_json(*features.cpu_pmu_capabilities);
  }
  json["pmu_capabilities"] = array_of(features.pmu_capabilities, [](const auto& pmu) -> Json {
    return {{"pmu", pmu.pmu}, {"capabilities", pairs_json(pmu.capabilities)}};
  });
}

void add_recording(const Features& features, Json& json) {
  json["perf_version"] = text_or_null(features.perf_version);
  json["command_line"] = features.command_line;
  json["event_descriptions"] = array_of(features.events, [](const auto& event) -> Json {
    return {{"name", event.name},
            {"type", event.attribute.type},
            {"config", hexadecimal(event.attribute.config)},
            {"ids", event.ids}};
  });
  json["groups"] = array_of(features.groups, [](const auto& group) -> Json {
    return {{"name", group.name}, {"leader", group.leader}, {"members", group.members}};
  });
  json["sample_time"] = nullptr;
  if (const auto& time = features.sample_time) {
    json["sample_time"] = {{"first_ns", time->first}, {"last_ns", time->second}};
  }
  json["clock_resolution_ns"] = features.clock_resolution_ns;
  json["clock_reference"] = nullptr;
  if (const auto& clock = features.clock_reference) {
    json["clock_reference"] = {{"clockid", clock->clockid},
                               {"time_of_day_ns", clock->time_of_day_ns},
                               {"clock_ns", clock->clock_ns}};
  }
  json["compression"] = nullptr;
  if (const auto& compression = features.compression) {
    json["compression"] = {{"version", compression->version},
                           {"type", compression->type},
                           {"level", compression->level},
                           {"ratio", compression->ratio},
                           {"mmap_bytes", compression->mmap_bytes}};
  }
  json["directory_version"] = features.directory_version;
  json["build_ids"] = array_of(features.build_ids, [](const auto& entry) -> Json {
    return {{"pid", entry.pid}, {"path", entry.path}, {"build_id", entry.build_id}};
  });
  json["meta_info"] = pairs_json(features.meta_info);
}

Json repeated_json(const perfdata::RepeatedRecords& repeated) {
  const auto& [blocks, records, samples, offset, last_end, last_time] = repeated;
  if (blocks == 0) return nullptr;
  return {{"blocks", blocks}, {"records", records}, {"samples", samples}, {"offset", offset}};
}

/// null or an empty list where the recording has no such section.
Json features_json(const Features& features) {
  Json json = Json::object();
  add_machine(features, json);
  add_recording(features, json);
  return json;
}

}  // namespace

Json inspection_json(const Inspection& inspection) {
  const auto& [recording, record_counts, precision] = inspection;
  Json events = Json::array();
  for (std::size_t i = 0; i < recording.attributes().size(); ++i) {
    events.push_back(event_json(inspection, i));
  }
  const auto section_json = [](const auto& section) -> Json {
    const auto& [bit, bytes] = section;
    return {{"bit", bit}, {"name", perfdata::name_of_feature(bit)}, {"bytes", bytes}};
  };
  const auto records_json = [](const auto& records) -> Json {
    const auto& [type, count] = records;
    return {{"type", type}, {"name", perfdata::name_of_record_type(type)}, {"count", count}};
  };
  const auto fault_json = [](const InputFault& fault) -> Json {
    return {{"offset", fault.offset},
            {"found", fault.found},
            {"allowed", text_or_null(fault.expected)},
            {"remedy", text_or_null(fault.remedy)}};
  };
  return {{"file", recording.path().string()},
          {"mode", perfdata::name_of(recording.mode())},
          {"byte_order", name_of(recording.byte_order())},
          {"events", std::move(events)},
          {"feature_sections", array_of(recording.features().section_bytes, section_json)},
          {"features", features_json(recording.features())},
          {"records", array_of(record_counts.records, records_json)},
          {"total_records", record_counts.total_records()},
          {"total_samples", record_counts.total_samples()},
          {"unknown_ids", record_counts.left_out.unknown_ids},
          {"short_samples", record_counts.left_out.short_samples},
          {"lost_records", record_counts.lost_records},
          {"lost_samples", record_counts.lost_samples},
          {"repeated", repeated_json(record_counts.repeated)},
          {"read_in_part", recording.read_in_part()},
          {"faults", array_of(recording.faults(), fault_json)}};
}

}  // namespace skid::output
