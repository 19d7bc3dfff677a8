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

/// Notes for each event how many of its PMU take a counter, and whether the PMU interrupts for each
/// sample of one of them.
void note_shared_pmus(std::vector<RecordedEvent>& events) {
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
  note_shared_pmus(events);
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

}  // namespace skid::measure
