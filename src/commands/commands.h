// The commands of skidscan, each in a file of its own, and the command line that they make up.
#pragma once

#include "src/commands/commandline/command.h"

#include <string>

namespace skid::commandline {
struct Option;
struct Value;
}  // namespace skid::commandline

namespace skid::commands {

using commandline::Command;
using commandline::Option;
using commandline::Value;

Command annotate_command();
Command audit_command();
Command compare_command();
Command correct_command();
Command doctor_command();
Command events_command();
Command inspect_command();
Command merge_command();
Command rates_command();
Command record_command();
Command report_command();
Command samples_command();
Command synth_command();
Command target_command();

/// Returns what can be done first, in the current directory: for a user who names no command.
std::string first_steps();

/// Returns skidscan with all its commands.
commandline::Program program();

}  // namespace skid::commands
