// The feature sections of a recording as JSON.
#include "src/output/inspection/inspection.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::output {
namespace {

using nlohmann::ordered_json;
using perfdata::Features;

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

template <typename Element, typename JsonOf>
ordered_json list_json(const std::vector<Element>& list, const JsonOf& json_of) {
  ordered_json array = ordered_json::array();
  for (const Element& element : list) array.push_back(json_of(element));
  return array;
}

/// null for nullopt, else what `json_of` makes of the value.
template <typename Value, typename JsonOf>
ordered_json optional_json(const std::optional<Value>& value, const JsonOf& json_of) {
  return value ? ordered_json(json_of(*value)) : ordered_json();
}

ordered_json number_json(const std::optional<std::uint64_t>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json capabilities_json(const perfdata::PmuCapabilities& capabilities) {
  return list_json(capabilities, [](const auto& capability) {
    return ordered_json{{"name", capability.first}, {"value", capability.second}};
  });
}

void add_machine(const Features& features, ordered_json& json) {
  json["hostname"] = text_or_null(features.hostname);
  json["os_release"] = text_or_null(features.os_release);
  json["arch"] = text_or_null(features.arch);
  json["cpu_description"] = text_or_null(features.cpu_description);
  json["cpuid"] = text_or_null(features.cpuid);
  json["cpus"] = optional_json(features.cpu_counts, [](const perfdata::CpuCounts& counts) {
    return ordered_json{{"available", counts.available}, {"online", counts.online}};
  });
  json["total_memory_kib"] = number_json(features.total_memory_kib);
  json["pmu_mappings"] = list_json(features.pmu_mappings, [](const auto& mapping) {
    return ordered_json{{"type", mapping.first}, {"name", mapping.second}};
  });
  json["cpu_pmu_capabilities"] = optional_json(features.cpu_pmu_capabilities, capabilities_json);
  json["pmu_capabilities"] = list_json(features.pmu_capabilities, [](const perfdata::
                                                                         NamedPmuCapabilities&
                                                                             pmu) {
    return ordered_json{{"pmu", pmu.pmu}, {"capabilities", capabilities_json(pmu.capabilities)}};
  });
}

void add_recording(const Features& features, ordered_json& json) {
  json["perf_version"] = text_or_null(features.perf_version);
  json["command_line"] = features.command_line;
  json["event_descriptions"] =
      list_json(features.events, [](const perfdata::EventDescription& event) {
        return ordered_json{{"name", event.name},
                            {"type", event.attribute.type},
                            {"config", fmt::format("0x{:x}", event.attribute.config)},
                            {"ids", event.ids}};
      });
  json["groups"] = list_json(features.groups, [](const perfdata::GroupDescription& group) {
    return ordered_json{{"name", group.name}, {"leader", group.leader}, {"members", group.members}};
  });
  json["sample_time"] = optional_json(features.sample_time, [](const auto& time) {
    return ordered_json{{"first_ns", time.first}, {"last_ns", time.second}};
  });
  json["clock_resolution_ns"] = number_json(features.clock_resolution_ns);
  json["clock_reference"] =
      optional_json(features.clock_reference, [](const perfdata::ClockReference& clock) {
        return ordered_json{{"clockid", clock.clockid},
                            {"time_of_day_ns", clock.time_of_day_ns},
                            {"clock_ns", clock.clock_ns}};
      });
  json["compression"] =
      optional_json(features.compression, [](const perfdata::Compression& compression) {
        return ordered_json{{"version", compression.version},
                            {"type", compression.type},
                            {"level", compression.level},
                            {"ratio", compression.ratio},
                            {"mmap_bytes", compression.mmap_bytes}};
      });
  json["directory_version"] = number_json(features.directory_version);
  json["build_ids"] = list_json(features.build_ids, [](const perfdata::BuildId& entry) {
    return ordered_json{{"pid", entry.pid}, {"path", entry.path}, {"build_id", entry.build_id}};
  });
}

}  // namespace

ordered_json features_json(const Features& features) {
  ordered_json json = ordered_json::object();
  add_machine(features, json);
  add_recording(features, json);
  return json;
}

}  // namespace skid::output
