#include "src/synth/recording.h"

#include "analysis/classified.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/recording_writer.h"
#include "src/run/perftool/event_name.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file_descriptor.h"
#include "src/support/random.h"
#include "src/synth/buffers.h"
#include "src/synth/code_places.h"
#include "src/synth/draw.h"
#include "src/synth/drawn_sample.h"
#include "src/synth/loop_path.h"
#include "src/synth/model.h"
#include "src/synth/offsets.h"
#include "src/synth/perf_settings.h"
#include "src/synth/recording_truth.h"
#include "src/synth/sample_truth.h"
#include "src/synth/selected.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::synth {
namespace {

using perfdata::Attribute;

/// The streams of random numbers that are derived from a model's seed.
enum Stream : std::uint64_t { kDrawing, kOrder, kBuffering };

void set_breakpoint(const std::string& name, const runway::TargetDescription& target,
                    Attribute& attribute) {
  constexpr std::uint32_t kReadWrite = 3, kExecute = 4;
  if (name == "access") {
    attribute.bp_type = kReadWrite;
    attribute.config1 = target.layout.datum;
    attribute.config2 = runway::watched_bytes(target.specification);
  } else if (name == "execute") {
    attribute.bp_type = kExecute;
    attribute.config1 = target.layout.trigger.begin;
    attribute.config2 = sizeof(long);  // as perf sets it for code
  }
}

/// Whether samples of an event are where the interrupt arrived, as skidscan reads them.
bool is_interrupted(measure::RecordedCpu& cpu, const perfdata::Features& features,
                    const Attribute& attribute) {
  measure::RecordedEvent event{.attribute = attribute,
                               .pmu_name = measure::pmu_name(features, attribute),
                               .machine = cpu.machine()};
  cpu.look_up(event);
  return event.landing == analysis::Landing::interrupted;
}

std::uint64_t samples_of(const LevelModel& level) {
  if (!level.refused.empty()) return 0;
  return level.samples ? *level.samples : std::get<OffsetTable>(level.offsets).total();
}

}  // namespace

std::vector<Selected> all_of(const Model& model) {
  std::vector<Selected> all;
  for (std::size_t event = 0; event < model.events.size(); ++event) {
    for (std::size_t level = 0; level < model.events[event].levels.size(); ++level) {
      if (model.events[event].levels[level].refused.empty()) all.push_back({event, level});
    }
  }
  return all;
}

Synthesizer::Synthesizer(const Model& model, const runway::Target& target)
    : model_(model),
      target_(target),
      module_(symbols::Module::open(target.path)),
      path_(parts_of(target.description, module_)) {}

MeasurementTruth Synthesizer::describe(Selected selected, std::size_t index) const {
  const EventModel& event = model_.events[selected.event];
  const LevelModel& level = event.levels[selected.level];
  MeasurementTruth measurement;
  measurement.selected = selected;
  measurement.requested = perftool::event_at_level(event.name, event.modifiers, level.level);
  measurement.perf_event = perftool::event_at_level(
      perftool::perf_name_of(event.name, target_.description), event.modifiers, level.level);
  Attribute& attribute = measurement.attribute;
  attribute.type = event.recorded.type;
  attribute.config = event.recorded.config;
  set_breakpoint(event.recorded.name, target_.description, attribute);
  attribute.period_or_frequency = event.period;
  attribute.sample_type = kSampleType;
  if (level.address) {
    attribute.sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
  }
  attribute.precise_ip = static_cast<unsigned>(level.precise_ip);
  attribute.sample_id_all = true;
  set_modes(event.modifiers, attribute);
  attribute.name =
      perftool::event_at_level(perftool::perf_name_of(event.recorded.name, target_.description),
                               event.modifiers, level.precise_ip);
  for (unsigned cpu = 0; cpu < model_.buffers.cpus; ++cpu) {
    attribute.ids.push_back(kFirstId + index * model_.buffers.cpus + cpu);
  }
  return measurement;
}

perfdata::Features Synthesizer::features(const std::vector<MeasurementTruth>& measurements) const {
  std::vector<std::string> command_line{"skidscan", "synth", model_.name};
  for (const MeasurementTruth& measurement : measurements) {
    command_line.insert(command_line.end(), {"-e", measurement.perf_event});
  }
  return synthetic_features(model_.machine, model_.buffers.cpus, std::move(command_line));
}

RecordingTruth Synthesizer::write(const std::vector<Selected>& selected, int repeat,
                                  FileDescriptor file, const std::filesystem::path& path,
                                  const perfdata::WritingChoices& choices) {
  if (selected.empty()) {
    throw Error("{}: the model refuses all levels; expected one that is recorded", path.string());
  }
  std::uint64_t samples = 0;
  for (const Selected& one : selected) {
    samples += samples_of(model_.events[one.event].levels[one.level]);
  }
  if (samples > kMostSamples) {
    throw Error("{}: a recording of {} samples, expected at most {}", path.string(), samples,
                kMostSamples);
  }
  const auto repetition = static_cast<std::uint64_t>(repeat);
  measure::RecordedCpu cpu(model_.machine);
  RecordingTruth truth;
  Contents contents;
  for (std::size_t index = 0; index < selected.size(); ++index) {
    MeasurementTruth measurement = describe(selected[index], index);
    const auto [event, level_index] = selected[index];
    const LevelModel& level = model_.events[event].levels[level_index];
    const std::uint64_t seed = seed_of(model_.seed, {kDrawing, repetition, event, level_index});
    Drawn drawn = draw(level, path_, seed, measurement.requested,
                       is_interrupted(cpu, features({}), measurement.attribute));
    if (level.address && measurement.attribute.type == PERF_TYPE_BREAKPOINT) {
      // The data address of a breakpoint's samples is bp_addr.
      for (DrawnSample& sample : drawn.samples) sample.data = measurement.attribute.config1;
      drawn.truth.data = DataCounts{.cause = drawn.samples.size()};
    }
    measurement.truth = std::move(drawn.truth);
    contents.add(static_cast<std::uint16_t>(index), std::move(drawn.samples), level);
    truth.lost += level.lost;
    truth.lost_samples += level.lost_samples;
    truth.throttled += level.throttled;
    truth.measurements.push_back(std::move(measurement));
  }

  std::vector<Attribute> attributes;
  for (const auto& measurement : truth.measurements) attributes.push_back(measurement.attribute);
  const auto mapping = module_.executable_mapping_at(path_.trigger_address(0));
  if (!mapping) throw Error("{}: its trigger is in no executable segment", target_.path.string());
  const TargetMapping mapped{std::filesystem::absolute(target_.path).lexically_normal().string(),
                             module_.build_id(), *mapping, code_before_exec(path_), path_.data()};
  perfdata::RecordingWriter writer(std::move(file), path, attributes, features(truth.measurements),
                                   choices);
  Random order(seed_of(model_.seed, {kOrder, repetition, selected.size()}));
  Random buffering(seed_of(model_.seed, {kBuffering, repetition}));
  write_contents(std::move(contents), attributes, mapped, model_.buffers, order, buffering, writer);
  return truth;
}

}  // namespace skid::synth
