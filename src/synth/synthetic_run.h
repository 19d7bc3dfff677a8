// A whole run made from a model: run.json, target, and a recording per event, level and repetition.
#pragma once

#include "src/run/run.h"
#include "src/synth/recording.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace skid::synth {

struct SyntheticRun {
  run::Run run;
  std::vector<NamedTruth> recordings;
};

/// Writes the recordings of all levels beside its target into `directory`, which exists. Returns
/// the content of run.json, without writing it. `repeats`: of all levels, at least 1, each drawn
/// anew. `command_line`: of skidscan. `begins`: called with the name of each recording before it is
/// made, its number from 1 and how many there are. Throws Error as Synthesizer::write does.
SyntheticRun write_run(
    const Model& model, const runway::Target& target, int repeats,
    const perfdata::WritingChoices& choices, const std::filesystem::path& directory,
    const std::vector<std::string>& command_line,
    const std::function<void(const std::string&, std::size_t, std::size_t)>& begins);

}  // namespace skid::synth
