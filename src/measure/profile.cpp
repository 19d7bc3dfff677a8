#include "src/measure/profile.h"

#include "analysis/command_line.h"
#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/figures.h"
#include "analysis/part.h"
#include "analysis/recording_path.h"
#include "src/events/event.h"
#include "src/locate/filter.h"
#include "src/locate/module_store.h"
#include "src/locate/replaced_code.h"
#include "src/measure/event_description.h"
#include "src/measure/event_selection.h"
#include "src/measure/measure.h"
#include "src/measure/no_samples.h"
#include "src/measure/recorded_event.h"
#include "src/measure/run_comparison.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/repeated_records.h"
#include "src/run/run.h"
#include "src/support/error.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace skid::measure {
namespace {

void describe_machine(const machine::Machine& machine, analysis::Measurement& measurement) {
  // Each event of a recording has a copy.
  const auto bounded = [](const std::string& name) {
    constexpr std::size_t kLongest = 1000;
    return name.substr(0, kLongest);
  };
  measurement.cpu = machine.cpu;
  for (const auto name : {&machine::CpuIdentity::vendor, &machine::CpuIdentity::model_name,
                          &machine::CpuIdentity::microcode, &machine::CpuIdentity::arch}) {
    measurement.cpu.*name = bounded(machine.cpu.*name);
  }
  measurement.kernel = bounded(machine.kernel);
}

/// The command line of a synthetic recording is the one that perf would have been given.
std::vector<analysis::CommandLine> command_lines_of(const Source& source,
                                                    const perfdata::Features& features) {
  const bool is_run = source.run != nullptr && !source.run->command_line.empty();
  if (!is_run && perfdata::is_synthetic(features)) return {};
  const analysis::CommandLine& line = is_run ? source.run->command_line : features.command_line;
  if (line.empty() || line.size() > analysis::kMostArguments) return {};
  const auto bytes =
      std::accumulate(line.begin(), line.end(), std::size_t{0},
                      [](std::size_t sum, const auto& word) { return sum + word.size(); });
  constexpr std::size_t kMostBytes = std::size_t{16} << 10;  // each event has a copy
  if (bytes > kMostBytes) return {};
  return {line};
}

/// perf writes 0 and 0 where it did not read the samples (-B).
std::optional<analysis::SampleTime> time_of_samples(const perfdata::Features& features) {
  const auto& time = features.sample_time;
  if (!time || time->second == 0) return std::nullopt;
  return analysis::SampleTime{time->first, time->second};
}

using analysis::Measurement;
using Match = Compared::Match;

constexpr const char* kRecordingPath = "recording path";

std::string number(const std::optional<int>& value) {
  return value ? std::to_string(*value) : std::string();
}

Compared compare(std::string what, std::string profile, std::string run) {
  Match match = profile == run ? Match::same : Match::differs;
  if (profile.empty() || run.empty()) match = Match::unknown;
  return {std::move(what), std::move(profile), std::move(run), match};
}

std::string modes_of(const analysis::EventIdentity& event) {
  const auto excludes = [&](std::string_view mode) {
    return std::ranges::find(event.excluded, mode) != event.excluded.end();
  };
  if (excludes("kernel") == excludes("user")) return "user and kernel";
  return excludes("kernel") ? "user" : "kernel";
}

/// Frequencies, whatever they are, take one path.
Compared compare_paths(const RecordedEvent& event, const Measurement& run) {
  const auto path = recording_path(event);
  Compared compared =
      compare(kRecordingPath, describe(path), run.path ? describe(*run.path) : std::string());
  const auto kind = [](const analysis::RecordingPath& one) {
    return std::tuple(one.frequency.has_value(), one.call_graph, one.branch_stack, one.batched);
  };
  if (run.path && kind(path) == kind(*run.path)) compared.match = Match::same;
  return compared;
}

}  // namespace

Profile::Profile(const Source& its_source, perfdata::Recording& its_recording,
                 locate::ModuleStore& its_modules, const ReadingChoices& choices)
    : source(its_source),
      recording(its_recording),
      digest(locate::digest(recording, {.cores = choices.cores, .filter = &choices.filter})),
      modules(its_modules),
      cpu(recorded_machine(recording.features(), source.run), choices.catalogues) {
  modules.expect_machine(cpu.machine().cpu.arch, recording.features());
  add_files_of(source, modules);
  events = describe_events(source, recording, cpu.machine());
  const auto exact = locate::exact_samples(digest);
  for (RecordedEvent& event : events) {
    cpu.look_up(event);
    event.samples = digest.totals[event.index].samples;
    event.exact = exact[event.index];
  }
  // The PMU of a hybrid CPU, or the only one.
  const auto pmu = [](const RecordedEvent& event) {
    return event.pmu_name.starts_with("cpu_") ? event.pmu_name : std::string();
  };
  std::map<std::string, std::size_t> counters;
  std::set<std::string> interrupted;
  for (const RecordedEvent& event : events) {
    if (recording_path(event).batched == false) interrupted.insert(pmu(event));
    if (takes_counter(event.attribute, event.pmu_name)) ++counters[pmu(event)];
  }
  for (RecordedEvent& event : events) {
    event.counters = counters[pmu(event)];
    event.shares_interrupts = interrupted.contains(pmu(event));
  }
}

bool Profile::selects(const RecordedEvent& event, const locate::Filter& filter,
                      locate::Filtered& filtered) const {
  if (event.attribute.is_dummy()) return false;
  if (is_cross_check(event.attribute, source)) {
    if (!filter.events.empty()) filtered.selected -= event.samples;
    return false;
  }
  return select_event(event.identity, filter, event.samples, filtered);
}

analysis::Measurement Profile::described(const RecordedEvent& event) const {
  analysis::Measurement measurement;
  measurement.run = source.run_directory.string();
  measurement.file = source.file.string();
  measurement.synthetic = event.synthetic;
  measurement.repeat = source.planned != nullptr ? source.planned->repeat : 1;
  measurement.time = time_of_samples(recording.features());
  measurement.command_lines = command_lines_of(source, recording.features());
  measurement.read_in_part = recording.read_in_part();
  describe_machine(machine(), measurement);
  measurement.event = event.identity;
  if (event.entry) measurement.event.name = event.entry->name;
  measurement.precise = event.precise;
  return measurement;
}

void Profile::visit(std::vector<locate::Visitor> visitors) const {
  std::erase_if(visitors, [](const locate::Visitor& visitor) { return !visitor; });
  if (visitors.empty()) return;
  locate::visit_records(recording, digest, [&visitors](const locate::VisitedRecord& visited) {
    for (const locate::Visitor& visitor : visitors) visitor(visited);
  });
}

void Profile::summarize(RecordingSummary& summary) const {
  summary.run = source.run_directory.string();
  summary.file = source.file.string();
  summary.synthetic = is_synthetic(source, recording.features());
  summary.time = time_of_samples(recording.features());
  summary.cpu = machine().cpu;
  summary.kernel = machine().kernel;
  if (digest.filtered.all == 0) summary.no_samples = why_no_samples(recording);
  summary.remarks = analysis::loss_warnings(digest, digest.filtered.all);
  if (auto trace = trace_beside(digest.filtered.all, recording); !trace.empty()) {
    summary.remarks.push_back(std::move(trace));
  }
  if (digest.repeated.blocks > 0) summary.remarks.push_back(digest.repeated.warning());
  for (const auto& remark : modules.remarks()) summary.remarks.push_back(remark.text);
  for (auto& remark : locate::remarks_on_replaced_code(digest)) {
    summary.remarks.push_back(std::move(remark));
  }
  summary.unused = modules.unused();
  summary.faults = recording.faults();
  summary.read_in_part = recording.read_in_part();
  summary.particulars.push_back(fmt::format("{}: {}", summary.file, cpu.catalogue_name()));
}

void add_files_of(const Source& source, locate::ModuleStore& modules) {
  modules.look_in(source.content().parent_path());
  if (source.run == nullptr) return;
  for (const auto& target : source.run->targets) {
    modules.add_candidate(source.directory() / target.file);
  }
}

bool measures(const Measurement& run, const perfdata::Attribute& attribute) {
  const auto& identity = run.event;
  return identity.type == attribute.type && identity.config == attribute.config &&
         identity.config1 == attribute.config1 && identity.config2 == attribute.config2 &&
         run.precise.recorded == static_cast<int>(attribute.precise_ip);
}

std::vector<Compared> compare_with_run(const RecordedEvent& event, const Measurement& run) {
  const machine::CpuIdentity& cpu = event.machine.cpu;
  const auto made = [](bool synthetic, bool emulated) {
    return synthetic ? "synthetic" : emulated ? "emulated" : "recorded";
  };
  // A recording without a run does not contain the hypervisor, nor the microcode.
  const std::string none = event.of_run ? "none" : "";
  return {compare("samples", made(event.synthetic, cpu.emulated()),
                  made(run.synthetic, run.cpu.emulated())),
          compare("architecture", cpu.arch, run.cpu.arch),
          compare("CPU vendor", cpu.vendor, run.cpu.vendor),
          compare("CPU family", number(cpu.family), number(run.cpu.family)),
          compare("CPU model", number(cpu.model), number(run.cpu.model)),
          compare("CPU stepping", number(cpu.stepping), number(run.cpu.stepping)),
          compare("microcode", cpu.microcode, run.cpu.microcode),
          compare("kernel", event.machine.kernel, run.kernel),
          compare("hypervisor", cpu.hypervisor.value_or(none),
                  run.cpu.hypervisor.value_or(run.run.empty() ? "" : "none")),
          compare(kCountedModes, modes_of(event.identity), modes_of(run.event)),
          compare_paths(event, run)};
}

std::vector<std::string> differing_from_run(std::span<const Compared> compared) {
  std::vector<std::string> differing;
  for (const Compared& one : compared) {
    if (one.what == kRecordingPath) continue;
    const bool may_be_unknown = one.what == "microcode" || one.what == "hypervisor";
    if (one.match == Match::differs || (one.match == Match::unknown && !may_be_unknown)) {
      differing.push_back(one.what);
    }
  }
  return differing;
}

}  // namespace skid::measure
