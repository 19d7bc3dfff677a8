// The measurements of the runs, recordings and reports that a command is given.
#pragma once

#include "analysis/measurement.h"
#include "src/commands/inputs.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skid::commands {
struct OutputOptions;
}  // namespace skid::commands

namespace skid::measure {

struct Choices;

class Catalogues;
}  // namespace skid::measure

namespace skid::commands {

/// The result of reading all inputs.
struct Findings {
  std::vector<std::string> inputs;                  ///< as given, or the default run
  std::vector<analysis::Measurement> measurements;  ///< in the order of the inputs
  std::vector<std::size_t> input_of;                ///< the number of the input of each measurement
  bool read_in_part = false;
  Sampled sampled = Sampled::all;
};

/// Reads the measurements of all `inputs`: run directories, reports in JSON (known by their first
/// character), or recordings as `measure::measure` takes them; "-" is standard input, recording or
/// report. Without inputs reads skidscan.run, or else perf.data. `bin_width`: width of the bins of
/// histograms in instructions; nullopt: reports keep theirs, and others get 1. Damage, missing
/// measurements of a run and unreadable inputs are reported on standard error; the others are read
/// nevertheless. The result is empty only if some input could not be read. Throws Error if there is
/// neither an input nor a default one, if the inputs contain nothing to measure, and if the
/// functions of `choices` are not found, as in a report.
Findings read_measurements(std::vector<std::string> inputs, const OutputOptions& shown,
                           measure::Choices choices, std::optional<std::int64_t> bin_width = {});

/// Throws Error if two inputs contain the same recording, for commands that add inputs up or count
/// them as repeats. `remedy`: see DistinctRecordings.
void refuse_duplicates(const Findings& findings, const std::string& remedy = {});

/// Reads the measurements of --skid RUN; nullopt: `run` is empty. Throws Error if none of them can
/// be read.
std::optional<Findings> measured_by(const std::string& run, const OutputOptions& shown,
                                    std::shared_ptr<measure::Catalogues> catalogues);

}  // namespace skid::commands
