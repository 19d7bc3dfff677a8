// The recordings of the runs and files that a command is given.
#pragma once

#include "src/commands/messages.h"
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

/// What is left to do with a recording that was read. Returns whether it was read in part.
using Finish = std::function<bool()>;

/// Reads a recording of the input of that number. Several threads call it at once, for recordings
/// that have nothing in common but the code that reads them; it must not write anything.
using Read = std::function<Finish(const measure::Source&, std::size_t input)>;

/// Calls `read` for each recording of the inputs, which are run directories and recordings, by as
/// many threads as there are `cores`. What it returns is called by the calling thread, in the order
/// of the inputs, and so are messages: the output does not depend on the number of
/// threads. Pipes and standard input are read alone, in their turn. Reports what a run is missing
/// and why an input or recording cannot be read where either throws InputError; the others are read
/// nevertheless. Progress is shown on a terminal; `read` itself must not print.
InputsRead each_recording(const std::vector<std::string>& inputs, Cores& cores,
                          const Messages& messages, const Read& read);

}  // namespace skid::commands
