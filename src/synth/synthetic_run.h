// A whole synthetic run: run.json, target, and a recording per event, level and repetition.
#pragma once

#include "src/run/run.h"
#include "src/synth/recording_truth.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace skid::perfdata {
struct WritingChoices;
}  // namespace skid::perfdata

namespace skid::runway {
struct Target;
}  // namespace skid::runway

namespace skid::synth {

struct Model;

/// run.json and the truth of each recording.
struct SyntheticRun {
  run::Run run;
  std::vector<NamedTruth> recordings;
};

/// Writes the recordings of all events, levels and repetitions into `directory`, which exists and
/// has the target's file. Returns the content of run.json unwritten. `repeats`: repetitions of all
/// levels, at least 1, each drawn anew. `command_line`: that of skidscan. `begins`: called before
/// each recording (refused levels have none) with its name, its number from 1, and the total.
/// Throws Error as Synthesizer::write does.
SyntheticRun write_run(
    const Model& model, const runway::Target& target, int repeats,
    const perfdata::WritingChoices& choices, const std::filesystem::path& directory,
    const std::vector<std::string>& command_line,
    const std::function<void(const std::string&, std::size_t, std::size_t)>& begins);

}  // namespace skid::synth
