// The runs, recordings and reports that a command is given.
#pragma once

#include "src/perfdata/recording.h"
#include "src/support/error.h"

#include <string>
#include <vector>

namespace skid {
class FileDescriptor;
}  // namespace skid

namespace skid::measure {
struct Source;
}  // namespace skid::measure

namespace skid::commands {

/// Which of the inputs that were read have samples.
enum class Sampled { all, some, none };

/// Returns the exit status for inputs of which some were read, as docs/reading.md lists them.
constexpr ExitStatus status_of(Sampled sampled, bool read_in_part) {
  if (sampled == Sampled::none) return ExitStatus::failed;
  return read_in_part || sampled == Sampled::some ? ExitStatus::read_in_part : ExitStatus::done;
}

/// The default input of commands for recordings, as in perf.
inline constexpr const char* kDefaultRecording = "perf.data";

/// Returns whether a regular file begins like a report of skidscan.
bool is_report(const std::string& file);

/// Returns whether the text that can be read from `stream` begins like a report of skidscan.
bool begins_as_report(const FileDescriptor& stream);

/// Throws InputError for a report, which contains no samples.
void refuse_report(const std::string& file);

/// Opens a recording, which may be one of a run. Throws InputError as Recording::open does, with a
/// remedy where it is a report, or the default and missing.
perfdata::Recording open_recording(const measure::Source& source);

/// Prints each fault of a recording that was read to its end. Returns read_in_part if records are
/// missing, else done. Throws InputError if it has no event, so that nothing can be read.
ExitStatus print_faults(const perfdata::Recording& recording);

/// Returns the inputs with the run in place of each run.json, which describes it.
std::vector<std::string> runs_of_descriptions(std::vector<std::string> inputs);

/// Returns the input that a command reads if none is given: skidscan.run, or else perf.data; empty:
/// neither is here.
std::string default_input();

/// Returns the inputs that a command reads: runs_of_descriptions() of those given, or the
/// default_input(). Throws Error if there is none.
std::vector<std::string> inputs_or_default_run(std::vector<std::string> inputs);

}  // namespace skid::commands
