#include "src/output/inspection/inspection.h"
#include "src/output/json_fields.h"

#include <utility>

namespace skid {

SKID_FIELDS(perfdata::CpuCounts, available, online)
SKID_FIELDS(perfdata::GroupDescription, name, leader, members)
SKID_FIELDS(perfdata::ClockReference, clockid, time_of_day_ns, clock_ns)
SKID_FIELDS(perfdata::Compression, version, type, level, ratio, mmap_bytes)
SKID_FIELDS(perfdata::BuildId, pid, path, build_id)

void fields(FieldWriter& io, const perfdata::EventDescription& event) {
  io("name", event.name);
  io("type", event.attribute.type);
  io("config", Hex{event.attribute.config});
  io("ids", event.ids);
}

void fields(FieldWriter& io, const InputFault& fault) {
  io("offset", fault.offset);
  io("found", fault.found);
  io("allowed", OrNull{fault.expected});
  io("remedy", OrNull{fault.remedy});
}

}  // namespace skid

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

Json repeated_json(const perfdata::RepeatedRecords& repeated) {
  const auto& [blocks, records, samples, offset, last_end, last_time] = repeated;
  if (blocks == 0) return nullptr;
  return {{"blocks", blocks}, {"records", records}, {"samples", samples}, {"offset", offset}};
}

/// null or an empty list where the recording has no such section.
Json features_json(const Features& features) {
  Json sample_time;
  if (const auto& time = features.sample_time) {
    sample_time = {{"first_ns", time->first}, {"last_ns", time->second}};
  }
  FieldWriter io;
  io("hostname", OrNull{features.hostname});
  io("os_release", OrNull{features.os_release});
  io("arch", OrNull{features.arch});
  io("cpu_description", OrNull{features.cpu_description});
  io("cpuid", OrNull{features.cpuid});
  io("cpus", features.cpu_counts);
  io("total_memory_kib", features.total_memory_kib);
  io("pmu_mappings", array_of(features.pmu_mappings, [](const auto& mapping) -> Json {
       return {{"type", mapping.first}, {"name", mapping.second}};
     }));
  io("cpu_pmu_capabilities",
     features.cpu_pmu_capabilities ? pairs_json(*features.cpu_pmu_capabilities) : Json());
  io("pmu_capabilities", array_of(features.pmu_capabilities, [](const auto& pmu) -> Json {
       return {{"pmu", pmu.pmu}, {"capabilities", pairs_json(pmu.capabilities)}};
     }));
  io("perf_version", OrNull{features.perf_version});
  io("command_line", features.command_line);
  io("event_descriptions", features.events);
  io("groups", features.groups);
  io("sample_time", sample_time);
  io("clock_resolution_ns", features.clock_resolution_ns);
  io("clock_reference", features.clock_reference);
  io("compression", features.compression);
  io("directory_version", features.directory_version);
  io("build_ids", features.build_ids);
  io("meta_info", pairs_json(features.meta_info));
  return io.take();
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
          {"faults", FieldWriter::json_of(recording.faults())}};
}

}  // namespace skid::output
