#include "src/measure/profile.h"

#include "src/measure/target_geometry.h"

#include <numeric>

#include <fmt/format.h>

namespace skid::measure {
namespace {

using perfdata::Attribute;

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

}  // namespace

Profile::Profile(const Source& its_source, perfdata::Recording& its_recording,
                 locate::ModuleStore& its_modules, const ReadingChoices& choices)
    : source(its_source),
      recording(its_recording),
      digest(locate::digest(recording, {.cores = choices.cores, .filter = &choices.filter})),
      modules(its_modules),
      cpu(recorded_machine(recording.features(), source.run), choices.catalogues) {
  modules.expect_machine(cpu.machine().cpu.arch);
  add_targets(source, modules);
  const auto requested = requested_by_attribute(recording);
  const auto exact = locate::exact_samples(digest);
  std::size_t counters = 0;
  events.reserve(requested.size());
  for (std::uint32_t index = 0; index < requested.size(); ++index) {
    auto& event = events.emplace_back(
        describe_event(source, recording, cpu.machine(), index, requested[index]));
    event.knowledge = cpu.know(event.attribute, event.pmu_name);
    event.samples = digest.totals[index].samples;
    event.exact = exact[index];
    if (takes_counter(event.attribute, event.pmu_name)) ++counters;
  }
  for (RecordedEvent& event : events) event.counters = counters;
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
  // perf writes 0 and 0 where it did not read the samples (-B).
  const auto& time = recording.features().sample_time;
  if (time && time->second != 0) {
    measurement.time = analysis::SampleTime{time->first, time->second};
  }
  measurement.command_lines = command_lines_of(source, recording.features());
  measurement.read_in_part = recording.read_in_part();
  describe_machine(machine(), measurement);
  measurement.event = event.identity;
  measurement.precise = event.precise;
  return measurement;
}

void Profile::summarize(RecordingSummary& summary) const {
  summary.run = source.run_directory.string();
  summary.file = source.file.string();
  summary.synthetic = is_synthetic(source, recording.features());
  summary.cpu = machine().cpu;
  summary.kernel = machine().kernel;
  for (const auto& remark : modules.remarks()) summary.remarks.push_back(remark.text);
  summary.faults = recording.faults();
  summary.read_in_part = recording.read_in_part();
  summary.particulars.push_back(fmt::format("{}: {}", summary.file, cpu.catalogue_name()));
}

}  // namespace skid::measure
