// The recordings behind the runs and files that a command was given.
#pragma once

#include "src/measure/measure.h"
#include "src/support/cores.h"

#include <cstddef>
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

/// What is left to do with a recording that was read. Returns whether it was read in part.
using Finish = std::function<bool()>;

/// Reads a recording of the input of that number. Several threads call it at once, for recordings
/// that have nothing in common but the code that reads them; it must not write anything.
using Read = std::function<Finish(const measure::Source&, std::size_t input)>;

/// The same by as many threads as there are `cores`. What `read` returns is called by the calling
/// thread, in the order of the inputs, and so is what there is to say: nobody can tell from the
/// output how many threads there were. Pipes and standard input are read alone, in their turn.
InputsRead each_recording(const std::vector<std::string>& inputs, Cores& cores, const Read& read);

}  // namespace skid::commands
