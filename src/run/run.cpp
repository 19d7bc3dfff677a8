// run.json: one list of keys for reading and writing.

#include "src/run/run.h"

#include "runway/run_fields.h"
#include "src/machine/answer_reason.h"
#include "src/machine/cpu_identity.h"
#include "src/perfdata/generic_event.h"
#include "src/run/perftool/event_name.h"
#include "src/support/error.h"
#include "src/support/field_reader.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"
#include "src/support/file.h"
#include "src/support/json_text.h"
#include "src/support/json_value.h"
#include "src/support/text.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::run {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

/// Refuses a name that leads out of the run directory.
void check_file_name(const JsonValue& value) {
  const std::string name = value.string();
  const fs::path path(name);
  bool inside = !name.empty() && path.is_relative() && path.has_filename() && !contains(name, '\0');
  for (const fs::path& part : path) inside = inside && part != "..";
  if (!inside) value.refuse_text("the name of a file in the directory of the run");
}

/// Returns what samples an event; a PMU for events without a generic name.
machine::SampledBy sampled_by(std::string_view perf_event) {
  if (perf_event.starts_with("mem:")) return machine::SampledBy::breakpoint;
  const auto* generic = perfdata::find_generic_event(perftool::split_event_name(perf_event).name);
  return generic == nullptr ? machine::SampledBy::pmu : machine::sampled_by(generic->type);
}

/// A CPU with the keys of run.json; outputs have more.
struct CpuOfRun {
  machine::CpuIdentity cpu;
};

/// The data caches of one CPU.
struct CachesOfCpu {
  int cpu = 0;
  std::vector<machine::DataCache> caches;
};

}  // namespace

}  // namespace skid::run

namespace skid {

SKID_FIELDS(machine::CorePmu, name, type, max_precise, cpus)
SKID_FIELDS(machine::DataCache, level, bytes)
SKID_FIELDS(run::CachesOfCpu, cpu, caches)
SKID_FIELDS(machine::PerfTool, path, version, major, minor)

void fields(auto& io, Of<run::CpuOfRun> auto& of) {
  auto& value = of.cpu;
  SKID_MEMBERS(arch, vendor, model_name, family, model, stepping, microcode, hypervisor);
}

void fields(auto& io, Of<machine::Machine> auto& value) {
  run::CpuOfRun identity{value.cpu};
  io("cpu", identity);
  SKID_MEMBERS(kernel, hostname, core_pmus);
  io("other_pmus", OrNull{value.other_pmus});
  io("perf_event_paranoid", value.perf_event_paranoid, {.least = -1});
  SKID_MEMBERS(perf_event_max_sample_rate, smt_active, allowed_cpus);
  std::vector<run::CachesOfCpu> all;
  for (const auto& [cpu, caches] : value.data_caches) all.push_back({cpu, caches});
  io("data_caches", OrNull{all});
  if constexpr (std::remove_reference_t<decltype(io)>::kReads) {
    value.cpu = identity.cpu;
    for (run::CachesOfCpu& of : all) {
      value.data_caches.insert_or_assign(of.cpu, std::move(of.caches));
    }
  }
}

void fields(auto& io, Of<run::RunTarget> auto& target) {
  io("trigger", target.trigger);
  io("file", Checked{target.file, run::check_file_name});
  io("build_id", target.build_id);
}

void fields(auto& io, Of<run::PlannedMeasurement> auto& value) {
  SKID_MEMBERS(event, requested, perf_event);
  io("witness", OrNull{value.cross_check});
  SKID_MEMBERS_OR_NULL(data_addresses, weights, registers);
  io("level", value.level, {.most = machine::kHighestLevel});
  io("repeat", value.repeat, {.least = 1});
  io("period", value.period);
  io("frequency", value.extras.frequency);
  io("call_graph", OrNull{value.extras.call_graph});
  io("branch_filter", OrNull{value.extras.branch_filter});
  io("per_cpu", OrNull{value.extras.per_cpu});
  SKID_MEMBERS(cpu, trigger);
  io("target", OrNull{value.target});
  io("length", value.length);
  io("samples", OrNull{value.samples});
  io("file", Checked{value.file, run::check_file_name});
  io("state", OneOf{value.state, names_of(run::State{})});
  SKID_MEMBERS(reason, command, started, ended, target_report, messages);
}

SKID_FIELDS(run::Run, tool_version, command_line, synthetic, machine, perf, cpu, samples,
            duration_seconds, started, ended, targets, measurements, notes)

}  // namespace skid

namespace skid::run {

Run read_run(const fs::path& directory) {
  const fs::path path = directory / kFileName;
  const std::string text = read_file(path, kMostBytes);
  if (text.empty()) {
    throw InputError({path.string(),
                      {},
                      "empty",
                      "the description of a run",
                      "it is being begun, or was killed; force its replacement by a new one"});
  }
  const nlohmann::json parsed = parse_json(text, path.string(), "the description of a run");
  const JsonValue document(parsed, path.string());
  const JsonValue schema = document["schema"];
  if (schema.string() != kSchema) {
    schema.refuse_text(fmt::format("\"{}\"", kSchema), "read it with the skidscan that wrote it");
  }
  Run run;
  FieldReader io(document);
  fields(io, run);
  // Older runs have one number of samples for all, and one target for each trigger.
  for (PlannedMeasurement& measurement : run.measurements) {
    if (measurement.samples == 0) measurement.samples = run.samples;
    const auto* of_trigger = find_by(run.targets, &RunTarget::trigger, measurement.trigger);
    if (measurement.target.empty() && of_trigger != nullptr) measurement.target = of_trigger->file;
  }
  // One file for two measurements would count its samples twice.
  std::set<std::string> files;
  for (std::size_t i = 0; i < run.measurements.size(); ++i) {
    if (files.insert(run.measurements[i].file).second) continue;
    const auto listed = document["measurements"].elements(run.measurements.size());
    listed[i]["file"].refuse_text("a file of its own");
  }
  return run;
}

std::string description_of(const Run& run) {
  FieldWriter io;
  io("schema", kSchema);
  fields(io, run);
  return json_text(io.take(), 2) + '\n';
}

std::string recording_name(std::string_view event, std::string_view level, int repeat,
                           std::set<std::string>& taken) {
  constexpr std::size_t kLongest = 80;  // a tar has names of at most 100 bytes
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  std::string name(event.substr(0, kLongest));
  for (char& character : name) {
    if (!contains(kPlain, character)) character = '_';
  }
  if (name.starts_with('-')) name.front() = '_';  // no option of a command
  while (name.size() > 1 && name.back() == '_') name.pop_back();
  name += fmt::format(".{}", level);
  if (repeat > 0) name += fmt::format(".{}", repeat);
  std::string file = name + ".data";
  for (int number = 2; !taken.insert(file).second; ++number) {
    file = fmt::format("{}~{}.data", name, number);
  }
  return file;
}

void note_samples(PlannedMeasurement& measurement, std::uint64_t samples,
                  const machine::CpuIdentity& cpu) {
  if (samples < measurement.samples) {
    measurement.messages.push_back(
        fmt::format("{} of {} requested samples", samples, measurement.samples));
  }
  if (samples > 0) return;
  measurement.reason = text_of(
      machine::why_no_samples(cpu, sampled_by(measurement.perf_event), measurement.level, {}));
}

bool is_run(const fs::path& directory) {
  std::error_code ignored;
  return fs::is_regular_file(directory / kFileName, ignored);
}

}  // namespace skid::run
