#include "src/run/run.h"
#include "src/support/file.h"
#include "src/support/json_text.h"

#include <nlohmann/json.hpp>

namespace skid::run {

namespace {

using nlohmann::ordered_json;

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json json_of(const machine::Machine& machine) {
  const machine::CpuIdentity& cpu = machine.cpu;
  ordered_json pmus = ordered_json::array();
  for (const machine::CorePmu& pmu : machine.core_pmus) {
    pmus.push_back({{"name", pmu.name},
                    {"type", pmu.type},
                    {"max_precise", or_null(pmu.max_precise)},
                    {"cpus", pmu.cpus}});
  }
  return {{"cpu",
           {{"arch", cpu.arch},
            {"vendor", cpu.vendor},
            {"model_name", cpu.model_name},
            {"family", or_null(cpu.family)},
            {"model", or_null(cpu.model)},
            {"stepping", or_null(cpu.stepping)},
            {"microcode", cpu.microcode},
            {"hypervisor", or_null(cpu.hypervisor)}}},
          {"kernel", machine.kernel},
          {"hostname", machine.hostname},
          {"core_pmus", pmus},
          {"other_pmus", machine.other_pmus},
          {"perf_event_paranoid", or_null(machine.perf_event_paranoid)},
          {"perf_event_max_sample_rate", or_null(machine.perf_event_max_sample_rate)},
          {"smt_active", or_null(machine.smt_active)},
          {"allowed_cpus", machine.allowed_cpus}};
}

ordered_json json_of(const runway::RunLength& length) {
  if (const auto* iterations = std::get_if<std::uint64_t>(&length)) {
    return {{"iterations", *iterations}};
  }
  return {{"nanoseconds",
           static_cast<std::uint64_t>(std::get<std::chrono::nanoseconds>(length).count())}};
}

ordered_json json_of(const std::optional<runway::TargetReport>& report) {
  if (!report) return nullptr;
  return {{"iterations", report->iterations},
          {"elapsed_seconds", report->elapsed_seconds},
          {"ticks_per_nop", report->ticks_per_nop},
          {"ticks_per_second", report->ticks_per_second},
          {"cpu", report->cpu},
          {"warnings", report->warnings}};
}

std::string_view name_of(State state) {
  switch (state) {
    case State::finished:
      return "finished";
    case State::refused:
      return "refused";
    case State::pending:
      break;
  }
  return "pending";
}

ordered_json json_of(const PlannedMeasurement& measurement) {
  return {{"event", measurement.event},
          {"requested", measurement.requested},
          {"perf_event", measurement.perf_event},
          {"witness", measurement.cross_check.empty() ? ordered_json()
                                                      : ordered_json(measurement.cross_check)},
          {"level", measurement.level},
          {"repeat", measurement.repeat},
          {"period", measurement.period},
          {"trigger", measurement.trigger},
          {"length", json_of(measurement.length)},
          {"file", measurement.file},
          {"state", name_of(measurement.state)},
          {"reason", measurement.reason},
          {"command", measurement.command},
          {"started", measurement.started},
          {"ended", measurement.ended},
          {"target_report", json_of(measurement.target_report)},
          {"messages", measurement.messages}};
}

}  // namespace

std::string description_of(const Run& run) {
  ordered_json targets = ordered_json::array();
  for (const RunTarget& target : run.targets) {
    targets.push_back(
        {{"trigger", target.trigger}, {"file", target.file}, {"build_id", target.build_id}});
  }
  ordered_json measurements = ordered_json::array();
  for (const PlannedMeasurement& measurement : run.measurements) {
    measurements.push_back(json_of(measurement));
  }
  const ordered_json document = {
      {"schema", kSchema},
      {"tool_version", run.tool_version},
      {"command_line", run.command_line},
      {"synthetic", run.synthetic},
      {"machine", json_of(run.machine)},
      {"perf",
       {{"path", run.perf.path.string()},
        {"version", run.perf.version},
        {"major", run.perf.major},
        {"minor", run.perf.minor}}},
      {"cpu", run.cpu},
      {"samples", run.samples},
      {"duration_seconds", or_null(run.duration_seconds)},
      {"started", run.started},
      {"ended", run.ended},
      {"targets", targets},
      {"measurements", measurements},
      {"notes", run.notes},
  };
  return json_text(document, 2) + '\n';
}

void write_run(const Run& run, const std::filesystem::path& directory) {
  write_file_atomically(directory / kFileName, description_of(run));
}

}  // namespace skid::run
