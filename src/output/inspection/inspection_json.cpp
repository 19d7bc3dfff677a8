#include "src/output/inspection/inspection.h"
#include "src/output/json_fields.h"

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using nlohmann::ordered_json;
using perfdata::Attribute;

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json event_json(const Inspection& inspection, std::size_t index) {
  const Attribute& attribute = inspection.recording.attributes()[index];
  const auto& events = inspection.record_counts.events;
  const auto counts = index < events.size() ? events[index] : perfdata::RecordCounts::Event{};
  const ordered_json value = attribute.period_or_frequency;
  return {{"index", index},
          {"name", attribute.name},
          {"type", attribute.type},
          {"source", text_or_null(source_of(attribute, inspection.recording.features()))},
          {"config", hexadecimal(attribute.config)},
          {"config1", hexadecimal(attribute.config1)},
          {"config2", hexadecimal(attribute.config2)},
          {"sample_type", perfdata::names_of_sample_type(attribute.sample_type)},
          {"period", attribute.frequency ? ordered_json() : value},
          {"frequency", attribute.frequency ? value : ordered_json()},
          {"precise_ip", attribute.precise_ip},
          {"exclude_user", attribute.exclude_user},
          {"exclude_kernel", attribute.exclude_kernel},
          {"ids", attribute.ids.size()},
          {"samples", counts.samples},
          {"exact_ip_samples", counts.exact_ip}};
}

ordered_json sections_json(const perfdata::Features& features) {
  ordered_json sections = ordered_json::array();
  for (const auto& [bit, bytes] : features.section_bytes) {
    sections.push_back({{"bit", bit}, {"name", perfdata::name_of_feature(bit)}, {"bytes", bytes}});
  }
  return sections;
}

ordered_json records_json(const perfdata::RecordCounts& record_counts) {
  ordered_json records = ordered_json::array();
  for (const auto& [type, count] : record_counts.records) {
    records.push_back(
        {{"type", type}, {"name", perfdata::name_of_record_type(type)}, {"count", count}});
  }
  return records;
}

ordered_json faults_json(const perfdata::Recording& recording) {
  ordered_json faults = ordered_json::array();
  for (const auto& fault : recording.faults()) {
    faults.push_back({{"offset", fault.offset ? ordered_json(*fault.offset) : ordered_json()},
                      {"found", fault.found},
                      {"allowed", text_or_null(fault.allowed)},
                      {"remedy", text_or_null(fault.remedy)}});
  }
  return faults;
}

}  // namespace

ordered_json inspection_json(const Inspection& inspection) {
  const auto& [recording, record_counts] = inspection;
  ordered_json events = ordered_json::array();
  for (std::size_t i = 0; i < recording.attributes().size(); ++i) {
    events.push_back(event_json(inspection, i));
  }
  return {{"file", recording.path().string()},
          {"mode", perfdata::name_of(recording.mode())},
          {"byte_order", name_of(recording.byte_order())},
          {"events", std::move(events)},
          {"feature_sections", sections_json(recording.features())},
          {"features", features_json(recording.features())},
          {"records", records_json(record_counts)},
          {"total_records", record_counts.total_records()},
          {"total_samples", record_counts.total_samples()},
          {"unknown_ids", record_counts.left_out.unknown_ids},
          {"short_samples", record_counts.left_out.short_samples},
          {"lost_records", record_counts.lost_records},
          {"lost_samples", record_counts.lost_samples},
          {"read_in_part", recording.read_in_part()},
          {"faults", faults_json(recording)}};
}

}  // namespace skid::output
