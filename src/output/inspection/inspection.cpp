#include "src/output/inspection/inspection.h"

#include "analysis/figures.h"
#include "analysis/wording.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_knowledge.h"
#include "src/output/json_values.h"
#include "src/output/name_list.h"
#include "src/output/page.h"
#include "src/output/table.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/feature_sections.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/repeated_records.h"
#include "src/perfdata/spe_samples.h"
#include "src/support/command_text.h"
#include "src/support/error.h"
#include "src/support/escape.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"
#include "src/support/losses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <nlohmann/json.hpp>

namespace skid {

SKID_FIELDS(perfdata::CpuCounts, available, online)
SKID_FIELDS(perfdata::GroupDescription, name, leader, members)
SKID_FIELDS(perfdata::ClockReference, clockid, time_of_day_ns, clock_ns)
SKID_FIELDS(perfdata::Compression, version, type, level, ratio, mmap_bytes)
SKID_FIELDS(perfdata::BuildId, pid, path, build_id)
SKID_FIELDS(perfdata::RepeatedRecords, blocks, records, samples, offset)

void fields(FieldWriter& io, const perfdata::EventDescription& event) {
  io("name", event.name);
  io("type", event.attribute.type);
  io("config", Hex{event.attribute.config});
  io("ids", event.ids);
}

void fields(FieldWriter& io, const InputFault& value) {
  SKID_MEMBERS(offset, found);
  io("allowed", OrNull{value.expected});
  io("remedy", OrNull{value.remedy});
}

}  // namespace skid

namespace skid::output {
namespace {

using perfdata::Attribute;
using perfdata::Features;

/// The sample fields that perf record requests by default, for one or several events or CPUs.
constexpr std::uint64_t kUsualSampleType = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                           PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                                           PERF_SAMPLE_IDENTIFIER;

/// Collects lines: a heading, and names followed by values.
struct Lines {
  std::string text = {};
  std::string next_heading = {};

  /// Begins a part, whose heading is printed if lines follow: pipes lack most of the header.
  void heading(std::string_view words) { next_heading = fmt::format("\n{}\n", words); }
  void add(std::string_view lines) { (text += std::exchange(next_heading, {})) += lines; }
  /// Adds a line. `value` is escaped here; if it is empty, there is no line.
  void line(std::string_view name, std::string_view value) {
    if (!value.empty()) add(fmt::format("  {:<18} {}\n", name, escape_for_terminal(value)));
  }
  /// Adds a line for each value; the first line has the name.
  void lines(std::string_view name, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      line(name, value);
      name = {};
    }
  }
};

std::string pair_text(const std::pair<std::string, std::string>& pair) {
  return pair.first + '=' + pair.second;
}

std::string capabilities_text(const perfdata::PmuCapabilities& capabilities) {
  return joined(texts_of(capabilities, pair_text));
}

void add_pmus(const Features& features, bool details, Lines& lines) {
  if (details) {
    lines.line("PMU numbers", joined(texts_of(features.pmu_mappings, [](const auto& mapping) {
                 return fmt::format("{}={}", mapping.second, mapping.first);
               })));
  }
  std::vector<std::string> values;
  if (features.cpu_pmu_capabilities) {
    values.push_back("cpu: " + capabilities_text(*features.cpu_pmu_capabilities));
  }
  for (const auto& pmu : features.pmu_capabilities) {
    values.push_back(pmu.pmu + ": " + capabilities_text(pmu.capabilities));
  }
  lines.lines("PMU capabilities", values);
}

void add_machine(const Features& features, bool details, Lines& lines) {
  lines.heading("Machine");
  lines.line("hostname", features.hostname);
  lines.line("kernel", features.os_release);
  lines.line("architecture", features.arch);
  lines.line("CPU", features.cpu_description);
  if (measure::recorded_machine(features, nullptr).cpu.emulated()) {
    lines.line("EMULATED", "an emulated CPU (QEMU) took the samples");
  }
  lines.line("cpuid", features.cpuid);
  if (features.cpu_counts) {
    lines.line("CPUs", fmt::format("{} online of {}", features.cpu_counts->online,
                                   features.cpu_counts->available));
  }
  if (features.total_memory_kib) {
    lines.line("memory", fmt::format("{} KiB", *features.total_memory_kib));
  }
  add_pmus(features, details, lines);
}

std::string compression_text(const perfdata::Compression& compression) {
  const std::string type = compression.type == perfdata::PERF_COMP_ZSTD
                               ? "zstd"
                               : fmt::format("type {}", compression.type);
  return fmt::format("{}, level {}, ratio {}, at most {} bytes a record", type, compression.level,
                     compression.ratio, compression.mmap_bytes);
}

void add_recording(const Features& features, bool details, Lines& lines) {
  lines.heading("Recording");
  lines.line("perf", features.perf_version);
  if (!features.command_line.empty()) lines.line("command", command_text(features.command_line));
  if (!details) return;
  lines.lines("groups", texts_of(features.groups, [](const auto& group) {
                return fmt::format("{}: {} events from event {}", group.name, group.members,
                                   group.leader);
              }));
  if (features.sample_time) {
    lines.line("samples", fmt::format("from {} ns to {} ns", features.sample_time->first,
                                      features.sample_time->second));
  }
  if (features.clock_resolution_ns) {
    lines.line("clock resolution", fmt::format("{} ns", *features.clock_resolution_ns));
  }
  if (const auto& clock = features.clock_reference) {
    lines.line("clock", fmt::format("clockid {}: {} ns at {} ns since 1970", clock->clockid,
                                    clock->clock_ns, clock->time_of_day_ns));
  }
  if (features.compression) lines.line("compression", compression_text(*features.compression));
  if (features.directory_version) {
    lines.line("directory", fmt::format("version {}", *features.directory_version));
  }
  lines.lines("meta info", texts_of(features.meta_info, pair_text));
  lines.lines("build-ids", texts_of(features.build_ids, [](const auto& entry) {
                return entry.build_id + "  " + entry.path;
              }));
  lines.line("bytes of sections", joined(texts_of(features.section_bytes, [](const auto& section) {
               return fmt::format("{} {}", perfdata::name_of_feature(section.first),
                                  section.second);
             })));
}

/// Names the source of events of this type: "software", or the PMU's name as recorded; empty when
/// neither is known. Not escaped.
std::string source_of(const Attribute& attribute, const Features& features) {
  if (const auto known = perfdata::name_of_event_type(attribute.type); !known.empty()) {
    return std::string(known);
  }
  const auto found = std::ranges::find(features.pmu_mappings, attribute.type,
                                       &decltype(features.pmu_mappings)::value_type::first);
  return found == features.pmu_mappings.end() ? std::string() : found->second;
}

std::string precision_lost(const Inspection& inspection, std::size_t event) {
  return event < inspection.precision_lost.size() ? inspection.precision_lost[event]
                                                  : std::string();
}

/// Describes an attribute as `perf evlist -v` prints it. Without details only differences from the
/// defaults of perf record are shown, and always the numbers that determine the sampling.
std::string attribute_text(const Attribute& attribute, const std::string& source, bool details) {
  std::string text = fmt::format(
      "{} {:#x}",
      source.empty() ? fmt::format("type {}", attribute.type) : escape_for_terminal(source),
      attribute.config);
  if (attribute.config1 != 0) text += fmt::format(", config1 {:#x}", attribute.config1);
  if (attribute.config2 != 0) text += fmt::format(", config2 {:#x}", attribute.config2);
  const std::uint64_t usual = details ? 0 : kUsualSampleType;
  if (const auto fields = perfdata::names_of_sample_type(attribute.sample_type & ~usual);
      !fields.empty()) {
    text += fmt::format(", {} {}", details ? "sample_type" : "with", joined(fields, "|"));
  }
  text += fmt::format(", {} {}, precise_ip {}", attribute.frequency ? "frequency" : "period",
                      attribute.period_or_frequency, attribute.precise_ip);
  if (attribute.exclude_user) text += ", exclude_user";
  if (attribute.exclude_kernel) text += ", exclude_kernel";
  if (details) {
    text +=
        fmt::format(", type {}, {}", attribute.type, analysis::counted(attribute.ids.size(), "id"));
  }
  return text;
}

std::string exactness_text(const perfdata::RecordCounts::Event& counts) {
  const auto& [samples, exact] = counts;
  return fmt::format("{} sample{}, {} with EXACT_IP", analysis::in_thousands(samples),
                     samples == 1 ? "" : "s",
                     exact == 0         ? "none"
                     : exact == samples ? "all"
                                        : analysis::in_thousands(exact));
}

void add_event(const Inspection& inspection, std::size_t index, bool details, Lines& lines) {
  const Attribute& attribute = inspection.recording.attributes()[index];
  const auto& counts = inspection.record_counts.events[index];
  const std::string source = source_of(attribute, inspection.recording.features());
  if (details) lines.text += fmt::format("event {}, ", index);
  lines.text += fmt::format(
      "{}: {}; {}\n", escape_for_terminal(attribute.name),
      attribute_text(attribute, source, details),
      attribute.is_dummy() ? fmt::format("{} records, no samples of an event", counts.samples)
      : attribute.is_only_counted() ? "not sampled, but counted at the samples of its group (:S)"
                                    : exactness_text(counts));
  lines.line("warning", precision_lost(inspection, index));
}

void add_records(const perfdata::RecordCounts& record_counts, Lines& lines) {
  lines.heading("Records");
  List list{{{"", ListColumn::Kind::text}, {""}}};
  for (const auto& [type, count] : record_counts.records) {
    list.add(std::string(perfdata::name_of_record_type(type)), std::to_string(count));
  }
  list.add("total", std::to_string(record_counts.total_records()));
  lines.add(Page{}.list(list));
}

/// Describes a hardware trace: its size, what was decoded, and the flags of its chunks.
std::string trace_text(const perfdata::Recording::HardwareTrace& trace, const Losses& losses) {
  std::string text = fmt::format("{}, {} bytes", perfdata::name_of_trace_type(trace.type),
                                 analysis::in_thousands(trace.bytes));
  if (!trace.is_decoded) return text + ", not decoded";
  text += fmt::format(", {} records", analysis::in_thousands(trace.spe.records));
  const auto add = [&](std::uint64_t number, std::string_view what) {
    if (number > 0) text += fmt::format(", {} {}", analysis::in_thousands(number), what);
  };
  add(trace.spe.incomplete, "incomplete records left out");
  add(trace.spe.malformed, "malformed packets");
  if (losses.aux_truncated + losses.aux_partial + losses.aux_collisions == 0) return text;
  text += fmt::format("; of {} PERF_RECORD_AUX", analysis::in_thousands(losses.aux_records));
  add(losses.aux_truncated, "TRUNCATED");
  add(losses.aux_partial, "PARTIAL");
  add(losses.aux_collisions, "COLLISION");
  return text;
}

/// Adds the record counts; without details only if something is missing or wrong.
void add_samples(const Inspection& inspection, bool details, Lines& lines) {
  const auto& record_counts = inspection.record_counts;
  const auto& [unknown_ids, short_samples] = record_counts.left_out;
  const auto& trace = inspection.recording.hardware_trace();
  const auto warnings = analysis::loss_warnings(record_counts, record_counts.total_samples());
  const bool any = unknown_ids > 0 || short_samples > 0 || record_counts.lost_records > 0 ||
                   record_counts.lost_samples > 0 || record_counts.repeated.blocks > 0 ||
                   trace.bytes > 0 || !warnings.empty() || !inspection.no_samples.empty();
  if (!any && !details) return;
  lines.heading("Samples");
  lines.line("read", std::to_string(record_counts.total_samples()));
  lines.line("of unknown ids", std::to_string(unknown_ids));
  lines.line("too short", std::to_string(short_samples));
  lines.line("lost records", std::to_string(record_counts.lost_records));
  lines.line("lost samples", std::to_string(record_counts.lost_samples));
  if (trace.bytes > 0) lines.line("hardware trace", trace_text(trace, record_counts));
  lines.line("warning", inspection.no_samples);
  for (const std::string& warning : warnings) lines.line("warning", warning);
  lines.line("warning", record_counts.repeated.warning());
}

void add_faults(const perfdata::Recording& recording, Lines& lines) {
  if (!recording.faults().empty()) lines.heading("Faults");
  for (const auto& fault : recording.faults()) {
    lines.add(fmt::format("  {}\n", escape_for_terminal(describe(fault))));
  }
}

/// Returns null without a hardware trace.
Json trace_json(const perfdata::Recording::HardwareTrace& trace, const Losses& losses) {
  if (trace.bytes == 0) return {};
  return {{"type", perfdata::name_of_trace_type(trace.type)},
          {"bytes", trace.bytes},
          {"decoded", trace.is_decoded},
          {"records", trace.spe.records},
          {"incomplete_records", trace.spe.incomplete},
          {"malformed_packets", trace.spe.malformed},
          {"aux_records", losses.aux_records},
          {"aux_truncated", losses.aux_truncated},
          {"aux_partial", losses.aux_partial},
          {"aux_collisions", losses.aux_collisions}};
}

Json event_json(const Inspection& inspection, std::size_t index) {
  const Attribute& attribute = inspection.recording.attributes()[index];
  const auto& counts = inspection.record_counts.events[index];
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

/// Returns an object for each pair of a name and a value.
Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  return array_of(pairs, [](const auto& pair) -> Json {
    return {{"name", pair.first}, {"value", pair.second}};
  });
}

/// Returns the sections of a recording's header; null or an empty list for those it does not have.
Json features_json(const Features& value) {
  Json sample_time;
  if (const auto& time = value.sample_time) {
    sample_time = {{"first_ns", time->first}, {"last_ns", time->second}};
  }
  FieldWriter io;
  SKID_MEMBERS_OR_NULL(hostname, os_release, arch, cpu_description, cpuid);
  io("cpus", value.cpu_counts);
  io("total_memory_kib", value.total_memory_kib);
  io("pmu_mappings", array_of(value.pmu_mappings, [](const auto& mapping) -> Json {
       return {{"type", mapping.first}, {"name", mapping.second}};
     }));
  io("cpu_pmu_capabilities",
     value.cpu_pmu_capabilities ? pairs_json(*value.cpu_pmu_capabilities) : Json());
  io("pmu_capabilities", array_of(value.pmu_capabilities, [](const auto& pmu) -> Json {
       return {{"pmu", pmu.pmu}, {"capabilities", pairs_json(pmu.capabilities)}};
     }));
  SKID_MEMBERS_OR_NULL(perf_version, command_line);
  io("event_descriptions", value.events);
  io("groups", value.groups);
  io("sample_time", sample_time);
  SKID_MEMBERS(clock_resolution_ns, clock_reference, compression, directory_version, build_ids);
  io("meta_info", pairs_json(value.meta_info));
  return io.take();
}

}  // namespace

std::string inspection_text(const Inspection& inspection, bool details) {
  const auto& recording = inspection.recording;
  Lines lines;
  lines.text =
      fmt::format("{}: {} mode, {} endian\n", escape_for_terminal(recording.path().string()),
                  perfdata::name_of(recording.mode()), name_of(recording.byte_order()));
  for (std::size_t i = 0; i < recording.attributes().size(); ++i) {
    add_event(inspection, i, details, lines);
  }
  add_samples(inspection, details, lines);
  add_faults(recording, lines);
  add_machine(recording.features(), details, lines);
  add_recording(recording.features(), details, lines);
  if (details) add_records(inspection.record_counts, lines);
  return std::move(lines.text);
}

Json inspection_json(const Inspection& inspection) {
  const auto& recording = inspection.recording;
  const auto& record_counts = inspection.record_counts;
  Json events = Json::array();
  for (std::size_t i = 0; i < recording.attributes().size(); ++i) {
    events.push_back(event_json(inspection, i));
  }
  const perfdata::RepeatedRecords& repeated = record_counts.repeated;
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
          {"hardware_trace", trace_json(recording.hardware_trace(), record_counts)},
          {"repeated", repeated.blocks > 0 ? FieldWriter::json_of(repeated) : Json()},
          {"read_in_part", recording.read_in_part()},
          {"faults", FieldWriter::json_of(recording.faults())}};
}

}  // namespace skid::output
