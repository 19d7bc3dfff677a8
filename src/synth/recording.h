// A recording made from a model and a target.
#pragma once

#include "src/perfdata/features.h"
#include "src/symbols/module.h"
#include "src/synth/loop_path.h"
#include "src/synth/recording_truth.h"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace skid {
class FileDescriptor;
}  // namespace skid

namespace skid::perfdata {
struct WritingChoices;
}  // namespace skid::perfdata

namespace skid::runway {
struct Target;
}  // namespace skid::runway

namespace skid::synth {

struct Selected;

struct Model;

/// Makes recordings of one model on one target, to which it refers.
class Synthesizer {
 public:
  /// Throws Error when the target's file does not contain its code.
  Synthesizer(const Model& model, const runway::Target& target);

  /// Draws the samples of what is selected, for the given repetition of all levels, and writes
  /// them. `file`: open for writing; `path` names it in errors. The samples of an event and level
  /// depend on the model's seed and the repetition. They do not depend on what else is selected,
  /// nor on buffers, mode and compression. Throws Error when the model needs what the target does
  /// not have, or more than kMostSamples, or when the file cannot be written.
  RecordingTruth write(const std::vector<Selected>& selected, int repeat, FileDescriptor file,
                       const std::filesystem::path& path, const perfdata::WritingChoices& choices);

  /// Returns an event at a level as it is requested and recorded, without its truth. `index`: index
  /// of the event in its recording.
  MeasurementTruth describe(Selected selected, std::size_t index) const;

  const LoopPath& path() const noexcept { return path_; }

 private:
  /// Returns the features of a recording, with the command line that would request its events from
  /// perf.
  perfdata::Features features(const std::vector<MeasurementTruth>& measurements) const;

  const Model& model_;
  const runway::Target& target_;
  symbols::Module module_;
  LoopPath path_;
};

}  // namespace skid::synth
