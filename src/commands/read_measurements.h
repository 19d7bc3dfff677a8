// The measurements of whatever a command was given: runs and recordings.
#pragma once

#include "analysis/measurement.h"
#include "src/measure/measure.h"

#include <cstddef>
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

/// Reads the measurements of all `inputs`: run directories, or recordings as `measure::measure`
/// takes them. Without any, of skidscan.run. Damage, missing measurements of a run and inputs that
/// cannot be read are said on standard error; the others are read nevertheless. No measurement
/// comes back only where some input could not be read. Throws Error when there is neither an input
/// nor skidscan.run, when nothing was recorded that could be measured, and when the functions of
/// `choices` are not to be found.
Findings read_measurements(std::vector<std::string> inputs, const measure::Choices& choices);

}  // namespace skid::commands
