#include "src/synth/synthetic_run.h"

#include "analysis/tally.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/trigger.h"
#include "src/machine/machine.h"
#include "src/run/perftool/event_name.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file_descriptor.h"
#include "src/synth/code_places.h"
#include "src/synth/model.h"
#include "src/synth/recording.h"
#include "src/synth/recording_truth.h"
#include "src/synth/sample_truth.h"
#include "src/synth/selected.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

namespace skid::perfdata {
struct WritingChoices;
}  // namespace skid::perfdata

namespace skid::synth {
namespace {

/// The times of a synthetic run: a model has no time of day.
constexpr const char* kNoTime = "1970-01-01T00:00:00Z";

FileDescriptor create(const std::filesystem::path& path) {
  constexpr int kMode = 0644;
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  if (!file) throw Error("{}: cannot be created: {}", path.string(), describe_errno(errno));
  return file;
}

/// Returns the events that an iteration causes: the model's number, else the number that the target
/// declares for a built-in event, else one for each trigger.
double events_per_iteration(const runway::Target& target, const EventModel& event) {
  if (event.events_per_iteration) return *event.events_per_iteration;
  const runway::Expectation* expected = target.description.expectation_of(event.name);
  if (expected != nullptr && expected->events_per_iteration > 0) {
    return expected->events_per_iteration;
  }
  return static_cast<double>(runway::triggers_of(target.description.specification));
}

/// Returns the report of a target that ran until `samples` samples were taken, without losses.
runway::TargetReport report_of(const Model& model, const runway::Target& target,
                               std::uint64_t samples, const EventModel& event) {
  const runway::Specification& specification = target.description.specification;
  runway::TargetReport report;
  const double events = static_cast<double>(samples) * static_cast<double>(event.period);
  report.iterations = static_cast<std::uint64_t>(
      std::llround(std::min(events / events_per_iteration(target, event), 1e18)));
  report.ticks_per_nop = model.ticks_per_nop;
  report.ticks_per_second = model.ticks_per_second;
  double nops =
      static_cast<double>(specification.nops) + static_cast<double>(specification.lead_in_nops);
  for (const std::uint32_t gap : specification.gaps) nops += static_cast<double>(gap);
  report.elapsed_seconds =
      static_cast<double>(report.iterations) * nops * model.ticks_per_nop / model.ticks_per_second;
  report.cpu = 0;
  if (const std::uint64_t elements = runway::elements_of(specification); elements > 1) {
    const std::uint64_t stride = runway::chase_stride(specification.trigger);
    report.chase = AddressRange{kChaseBegin + stride, kChaseBegin + elements * stride};
  }
  return report;
}

/// Returns the largest number of samples of an event's levels.
std::uint64_t most_samples_of(const EventModel& event) {
  std::uint64_t most = 0;
  for (const LevelModel& level : event.levels) most = std::max(most, level.samples.value_or(0));
  return most;
}

}  // namespace

SyntheticRun write_run(
    const Model& model, const runway::Target& target, int repeats,
    const perfdata::WritingChoices& choices, const std::filesystem::path& directory,
    const std::vector<std::string>& command_line,
    const std::function<void(const std::string&, std::size_t, std::size_t)>& begins) {
  Synthesizer synthesizer(model, target);
  const std::string trigger(runway::name_of(target.description.specification.trigger));
  SyntheticRun made;
  run::Run& run = made.run;
  run.tool_version = SKIDSCAN_VERSION;
  run.command_line = command_line;
  run.synthetic = true;
  run.machine = model.machine;
  run.perf.version = "none: synthetic";
  run.started = run.ended = kNoTime;
  run.targets.push_back({trigger, target.path.filename().string(), target.build_id});
  run.notes.push_back(
      fmt::format("synthetic: made by skidscan synth from the model {}, seed {}; no "
                  "CPU recorded anything",
                  model.name, model.seed));
  if (!model.description.empty()) run.notes.push_back(model.description);

  std::set<std::string> files;
  const std::size_t total = all_of(model).size() * static_cast<std::size_t>(repeats);
  std::size_t written = 0;
  const auto add = [&](int repeat, Selected selected) {
    const EventModel& event = model.events[selected.event];
    const LevelModel& level = event.levels[selected.level];
    const MeasurementTruth described = synthesizer.describe(selected, 0);
    run::PlannedMeasurement measurement;
    measurement.event = perftool::join_event_name({event.name, event.modifiers});
    measurement.requested = described.requested;
    measurement.perf_event = described.perf_event;
    measurement.level = level.level;
    measurement.repeat = repeat;
    measurement.period = event.period;
    measurement.trigger = trigger;
    measurement.target = run.targets.front().file;
    measurement.file = run::recording_name(event.name, machine::level_name(level.level),
                                           repeats > 1 ? repeat : 0, files);
    measurement.started = measurement.ended = kNoTime;
    if (!level.refused.empty()) {
      measurement.state = run::State::refused;
      measurement.reason = level.refused;
      run.measurements.push_back(std::move(measurement));
      return;
    }
    begins(measurement.file, ++written, total);
    const auto path = directory / measurement.file;
    RecordingTruth truth = synthesizer.write({selected}, repeat, create(path), path, choices);
    const std::uint64_t samples = truth.measurements.front().truth.samples.read();
    measurement.state = run::State::finished;
    // The target also ran where all samples were dropped.
    measurement.target_report =
        report_of(model, target, samples == 0 ? most_samples_of(event) : samples, event);
    measurement.length = measurement.target_report->iterations;
    run.samples = std::max(run.samples, samples);
    made.recordings.push_back({measurement.file, repeat, std::move(truth)});
    run.measurements.push_back(std::move(measurement));
  };
  for (int repeat = 1; repeat <= repeats; ++repeat) {
    for (std::size_t event = 0; event < model.events.size(); ++event) {
      for (std::size_t level = 0; level < model.events[event].levels.size(); ++level) {
        add(repeat, {event, level});
      }
    }
  }
  return made;
}

}  // namespace skid::synth
