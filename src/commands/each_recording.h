// The recordings behind the runs and files that a command was given.
#pragma once

#include "src/measure/measure.h"

#include <functional>
#include <string>
#include <vector>

namespace skid::commands {

/// What became of the inputs.
struct InputsRead {
  bool read_in_part = false;    ///< of some recording or input something is missing
  bool has_unreadable = false;  ///< nothing of some input could be read
};

/// What inputs a command reads: those given, or skidscan.run. Throws Error when there is neither.
std::vector<std::string> inputs_or_default_run(std::vector<std::string> inputs);

/// Calls `visit` for each recording of the inputs, which are run directories and recordings; it
/// returns whether its recording was read in part. Says what a run lacks, and why an input or
/// recording cannot be read where `visit` throws InputError; the others are read nevertheless.
InputsRead each_recording(const std::vector<std::string>& inputs,
                          const std::function<bool(const measure::Source&)>& visit);

}  // namespace skid::commands
