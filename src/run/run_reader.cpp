#include "src/run/kit_run.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/json_text.h"
#include "src/support/json_value.h"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::run {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMostMeasurements = 100'000;
constexpr std::size_t kMostElements = 65'536;
constexpr int kHighestPreciseLevel = 3;

/// The name of a file in the run directory.
std::string file_name(const JsonValue& value) {
  std::string name = value.string();
  const fs::path path(name);
  bool inside = !name.empty() && path.is_relative() && name.find('\0') == std::string::npos &&
                path.has_filename();
  for (const fs::path& part : path) inside = inside && part != "..";
  if (!inside) {
    value.refuse(json_text(json(name)), "the name of a file in the directory of the run");
  }
  return name;
}

std::optional<int> optional_integer(const JsonValue& object, std::string_view name, int least) {
  const auto value = object.find(name);
  if (!value) return std::nullopt;
  return value->integer(least);
}

std::vector<int> cpu_list(const JsonValue& value) {
  std::vector<int> cpus;
  for (const JsonValue& cpu : value.elements(kMostElements)) cpus.push_back(cpu.integer(0));
  return cpus;
}

machine::CpuIdentity read_cpu(const JsonValue& value) {
  machine::CpuIdentity cpu;
  cpu.arch = value["arch"].string();
  cpu.vendor = value["vendor"].string();
  cpu.model_name = value["model_name"].string();
  cpu.family = optional_integer(value, "family", 0);
  cpu.model = optional_integer(value, "model", 0);
  cpu.stepping = optional_integer(value, "stepping", 0);
  cpu.microcode = value["microcode"].string();
  if (const auto hypervisor = value.find("hypervisor")) cpu.hypervisor = hypervisor->string();
  return cpu;
}

machine::Machine read_machine(const JsonValue& value) {
  machine::Machine machine;
  machine.cpu = read_cpu(value["cpu"]);
  machine.kernel = value["kernel"].string();
  machine.hostname = value["hostname"].string();
  for (const JsonValue& pmu : value["core_pmus"].elements(kMostElements)) {
    machine.core_pmus.push_back({.name = pmu["name"].string(),
                                 .type = static_cast<std::uint32_t>(pmu["type"].unsigned_integer(
                                     std::numeric_limits<std::uint32_t>::max())),
                                 .max_precise = optional_integer(pmu, "max_precise", 0),
                                 .cpus = cpu_list(pmu["cpus"])});
  }
  if (const auto others = value.find("other_pmus")) {
    machine.other_pmus = others->strings(kMostElements);
  }
  machine.perf_event_paranoid = optional_integer(value, "perf_event_paranoid", -1);
  machine.perf_event_max_sample_rate = optional_integer(value, "perf_event_max_sample_rate", 0);
  if (const auto smt = value.find("smt_active")) machine.smt_active = smt->boolean();
  machine.allowed_cpus = cpu_list(value["allowed_cpus"]);
  return machine;
}

machine::PerfTool read_perf(const JsonValue& value) {
  machine::PerfTool perf;
  perf.path = value["path"].string();
  perf.version = value["version"].string();
  perf.major = value["major"].integer(0);
  perf.minor = value["minor"].integer(0);
  return perf;
}

runway::RunLength read_length(const JsonValue& value) {
  const auto iterations = value.find("iterations");
  const auto nanoseconds = value.find("nanoseconds");
  if (iterations.has_value() == nanoseconds.has_value()) {
    value.refuse(iterations ? "both lengths" : "neither length",
                 "one of \"iterations\" and \"nanoseconds\"");
  }
  if (iterations) return iterations->unsigned_integer();
  return std::chrono::nanoseconds(
      nanoseconds->unsigned_integer(std::uint64_t{std::numeric_limits<std::int64_t>::max()}));
}

State read_state(const JsonValue& value) {
  const std::string name = value.string();
  if (name == "pending") return State::pending;
  if (name == "finished") return State::finished;
  if (name == "refused") return State::refused;
  value.refuse(json_text(json(name)), "\"pending\", \"finished\" or \"refused\"");
}

runway::TargetReport read_target_report(const JsonValue& value) {
  runway::TargetReport report;
  report.iterations = value["iterations"].unsigned_integer();
  report.elapsed_seconds = value["elapsed_seconds"].non_negative_number();
  report.ticks_per_nop = value["ticks_per_nop"].non_negative_number();
  report.ticks_per_second = value["ticks_per_second"].non_negative_number();
  report.cpu = value["cpu"].integer(-1);
  report.warnings = value["warnings"].strings(kMostElements);
  return report;
}

PlannedMeasurement read_measurement(const JsonValue& value) {
  PlannedMeasurement measurement;
  measurement.event = value["event"].string();
  measurement.requested = value["requested"].string();
  measurement.perf_event = value["perf_event"].string();
  if (const auto cross_check = value.find("witness"))
    measurement.cross_check = cross_check->string();
  measurement.level = value["level"].integer(0, kHighestPreciseLevel);
  measurement.repeat = value["repeat"].integer(1);
  measurement.period = value["period"].unsigned_integer();
  measurement.trigger = value["trigger"].string();
  measurement.length = read_length(value["length"]);
  measurement.file = file_name(value["file"]);
  measurement.state = read_state(value["state"]);
  measurement.reason = value["reason"].string();
  measurement.command = value["command"].strings(kMostElements);
  measurement.started = value["started"].string();
  measurement.ended = value["ended"].string();
  if (const auto report = value.find("target_report")) {
    measurement.target_report = read_target_report(*report);
  }
  measurement.messages = value["messages"].strings(kMostElements);
  return measurement;
}

void check_schema(const JsonValue& document) {
  const JsonValue schema = document["schema"];
  const std::string name = schema.string();
  if (name != kSchema) {
    schema.refuse(json_text(json(name)), fmt::format("\"{}\"", kSchema),
                  "read it with the skidscan that wrote it");
  }
}

/// One file for two measurements would count its samples twice.
void check_files_differ(const JsonValue& measurements) {
  std::set<std::string> files;
  for (const JsonValue& measurement : measurements.elements(kMostMeasurements)) {
    const JsonValue file = measurement["file"];
    if (!files.insert(file.string()).second) {
      file.refuse(json_text(json(file.string())), "a file of its own");
    }
  }
}

bool has_file(const std::filesystem::path& directory, const char* name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(directory / name, ignored);
}

}  // namespace

bool Run::partial() const {
  return std::any_of(measurements.begin(), measurements.end(),
                     [](const auto& measurement) { return measurement.state == State::pending; });
}

bool is_run(const std::filesystem::path& directory) {
  return has_file(directory, kFileName) ||
         (has_plan(directory) && has_file(directory, kSessionName));
}

bool has_plan(const std::filesystem::path& directory) {
  return has_file(directory, kPlanName);
}

Run read_run(const fs::path& directory) {
  std::error_code ignored;
  if (has_plan(directory) && !fs::exists(directory / kFileName, ignored)) {
    return read_kit_run(directory);
  }
  return read_description(directory / kFileName);
}

Run read_description(const fs::path& path) {
  const json parsed =
      parse_json(read_file(path, kMostBytes), path.string(), "the description of a run");
  const JsonValue document(parsed, path.string());
  check_schema(document);

  Run run;
  run.tool_version = document["tool_version"].string();
  run.command_line = document["command_line"].strings(kMostElements);
  run.synthetic = document["synthetic"].boolean();
  run.machine = read_machine(document["machine"]);
  run.perf = read_perf(document["perf"]);
  run.cpu = document["cpu"].integer(0);
  run.samples = document["samples"].unsigned_integer();
  if (const auto duration = document.find("duration_seconds")) {
    run.duration_seconds = duration->non_negative_number();
  }
  run.started = document["started"].string();
  run.ended = document["ended"].string();
  for (const JsonValue& target : document["targets"].elements(kMostElements)) {
    run.targets.push_back({.trigger = target["trigger"].string(),
                           .file = file_name(target["file"]),
                           .build_id = target["build_id"].string()});
  }
  const JsonValue measurements = document["measurements"];
  for (const JsonValue& measurement : measurements.elements(kMostMeasurements)) {
    run.measurements.push_back(read_measurement(measurement));
  }
  check_files_differ(measurements);
  run.notes = document["notes"].strings(kMostElements);
  return run;
}

}  // namespace skid::run
