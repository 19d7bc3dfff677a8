// Recordings as the command line names them.
#pragma once

#include "src/perfdata/recording.h"

#include <string>

namespace skid::commands {

/// What commands for recordings read when they are given no name, as perf does.
inline constexpr const char* kDefaultRecording = "perf.data";

/// For commands that take samples: throws InputError where `file` is one of skidscan's reports,
/// which hold none. Nothing else about the file is looked at, and nothing of a pipe.
void refuse_report(const std::string& file);

/// Opens a recording for a command that does not accept runs. Throws InputError as Recording::open
/// does, with a remedy where `file` is a run, a report, or the default and missing.
perfdata::Recording open_recording(const std::string& file);

}  // namespace skid::commands
