// What a measurement is of: event, machine, target and recording.
#pragma once

#include "analysis/command_line.h"
#include "analysis/event_identity.h"
#include "analysis/events_per_iteration.h"
#include "analysis/ip_check.h"
#include "analysis/part.h"
#include "analysis/recording_path.h"
#include "src/machine/cpu_identity.h"
#include "src/support/losses.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {

using Cpu = machine::CpuIdentity;

struct Trigger {
  std::string kind;  ///< "load"; "function" with --hit
  std::uint64_t address = 0;
  std::string symbol;
};

/// What a measurement is of: event, machine, target and recording.
struct Description : Losses {
  std::string run;                 ///< the run directory as given; empty for a bare perf.data
  std::string file;                ///< the perf.data file as given, or as the run has it
  int repeat = 1;                  ///< number of the repetition of all levels, from 1
  std::optional<SampleTime> time;  ///< time of all events of the recording, if it contains times
  /// The measurements that were added up (`merge`), at most the first kMostParts of them; empty for
  /// the measurement of one recording.
  std::vector<Part> merged_from;
  std::uint64_t parts = 1;  ///< how many measurements of one recording each
  /// The command lines that recorded it: skidscan's from the run, else perf's from the recording. A
  /// sum has those of its parts, each once, and at most kMostParts. Empty if unknown.
  std::vector<CommandLine> command_lines;
  bool synthetic = false;
  bool read_in_part = false;  ///< damage ended the reading early; see warnings
  Cpu cpu;
  std::string kernel;
  EventIdentity event;
  PreciseLevel precise;
  Period period;
  std::optional<RecordingPath> path;  ///< nullopt in older reports
  std::optional<Trigger> trigger;     ///< the first one; nullopt if its address is not known
  std::uint64_t unknown_ids = 0;      ///< samples of the file whose id belongs to no attribute
  std::int64_t bin_width = 1;         ///< width of the histogram's bins, in instructions
  EventsPerIteration events_per_iteration;
  std::optional<IpCheck> ip_check;    ///< nullopt if no tracepoint was recorded beside the event
  std::vector<std::string> warnings;  ///< about what was requested, recorded and found
  /// Warnings about the recording as a whole: one list for all of its measurements. May be null.
  std::shared_ptr<const std::vector<std::string>> recording_warnings;
};

}  // namespace skid::analysis
