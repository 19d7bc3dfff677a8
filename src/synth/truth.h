// What is true of synthetic recordings, as JSON. docs/synth.md has its keys.
#pragma once

#include "src/synth/recording.h"

#include <string>
#include <vector>

namespace skid::synth {

inline constexpr const char* kTruthSchema = "skidscan.truth/1";

/// A recording by the name of its file, and which repetition of the ladder it is.
struct NamedTruth {
  std::string file;
  int repeat = 1;
  RecordingTruth truth;
};

/// The truth of all recordings of a model on a target, as the text of a file.
std::string truth_json(const Model& model, const runway::Target& target, const LoopPath& path,
                       const std::vector<NamedTruth>& recordings);

}  // namespace skid::synth
