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

struct Ladder {
  run::Run run;
  std::vector<NamedTruth> recordings;
};

/// Writes the recordings of a ladder beside its target into `directory`, which exists. Gives what
/// the content of run.json, without writing it. `repeats`: of the ladder, from 1, each drawn anew.
/// `command_line`: of skidscan. `begins`: called with the name of each recording before it is made,
/// its number from 1 and how many there are. Throws Error as Synthesizer::write does.
Ladder write_ladder(
    const Model& model, const runway::Target& target, int repeats,
    const perfdata::WritingChoices& choices, const std::filesystem::path& directory,
    const std::vector<std::string>& command_line,
    const std::function<void(const std::string&, std::size_t, std::size_t)>& begins);

}  // namespace skid::synth
