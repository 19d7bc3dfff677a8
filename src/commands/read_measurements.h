// The measurements of whatever a command was given: runs, recordings and reports.
#pragma once

#include "analysis/measurement.h"
#include "src/commands/messages.h"
#include "src/measure/measure.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::commands {

/// What reading all inputs gave.
struct Findings {
  std::vector<std::string> inputs;                  ///< as given, or the default run
  std::vector<analysis::Measurement> measurements;  ///< in the order of the inputs
  std::vector<std::size_t> input_of;                ///< by measurement: the number of its input
  bool read_in_part = false;
  bool has_unreadable = false;  ///< nothing of some input could be read; it was said why
};

/// Reads the measurements of all `inputs`: run directories, reports in JSON (known by their first
/// character), or recordings as `measure::measure` takes them; "-" is standard input, recording or
/// report. Without any, of skidscan.run. `bin_width`: of the histograms, in instructions; nullopt
/// leaves reports theirs and takes 1 for what is measured. Damage, missing measurements of a run
/// and inputs that cannot be read are said on standard error; the others are read nevertheless. No
/// measurement comes back only where some input could not be read. Throws Error when there is
/// neither an input nor skidscan.run, when nothing was recorded that could be measured, and when
/// the functions of `choices` are not to be found, as in a report.
Findings read_measurements(std::vector<std::string> inputs, const Messages& messages,
                           measure::Choices choices, std::optional<std::int64_t> bin_width = {});

}  // namespace skid::commands
