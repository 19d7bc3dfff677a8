// A recording made from a model, and what is true of it.
#pragma once

#include "runway/target.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/recording_writer.h"
#include "src/symbols/module.h"
#include "src/synth/draw.h"
#include "src/synth/loop_path.h"
#include "src/synth/model.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace skid::synth {

/// An event of a model at one of its levels.
struct Selected {
  std::size_t event = 0;  ///< index in Model::events
  std::size_t level = 0;  ///< index in EventModel::levels
};

/// All events of a model at all of their levels.
std::vector<Selected> all_of(const Model& model);

struct MeasurementTruth {
  Selected selected;
  std::string requested;          ///< as asked for: "access:pp"
  std::string perf_event;         ///< as -e would take it: "mem:0x410000/8:rw:pp"
  perfdata::Attribute attribute;  ///< as recorded
  Truth truth;
};

struct RecordingTruth {
  std::vector<MeasurementTruth> measurements;  ///< in the order of the recording's events
  std::uint64_t lost = 0;                      ///< sum of PERF_RECORD_LOST
  std::uint64_t lost_samples = 0;              ///< sum of PERF_RECORD_LOST_SAMPLES
  std::uint64_t throttled = 0;                 ///< PERF_RECORD_THROTTLE records
};

/// Makes recordings of one model on one target. Refers to both.
class Synthesizer {
 public:
  /// Throws Error when the target's file does not hold its code.
  Synthesizer(const Model& model, const runway::Target& target);

  /// Draws what is selected, for the given repetition of the ladder, and writes it. `file`: open
  /// for writing; `path` names it in errors. What is drawn for an event and level depends on the
  /// model's seed and the repetition, not on what else is selected nor on buffers, mode and
  /// compression. Throws Error when the model asks for what the target lacks or for more than
  /// kMostSamples, or when the file cannot be written.
  RecordingTruth write(const std::vector<Selected>& selected, int repeat, FileDescriptor file,
                       const std::filesystem::path& path, const perfdata::WritingChoices& choices);

  const LoopPath& path() const noexcept { return path_; }

 private:
  MeasurementTruth describe(Selected selected, std::size_t index) const;
  /// What the recording says of its making: as asked of perf, so that a reader sees what was asked.
  perfdata::Features features(const std::vector<MeasurementTruth>& measurements) const;

  const Model& model_;
  const runway::Target& target_;
  symbols::Module module_;
  LoopPath path_;
};

}  // namespace skid::synth
