// The recordings of the runs and files that a command is given, and their measurements.
#pragma once

#include "analysis/measurement.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/locate/filter.h"
#include "src/measure/measure.h"
#include "src/perfdata/recording.h"
#include "src/support/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skid {
class Cores;
}  // namespace skid

namespace skid::measure {
class Catalogues;
}  // namespace skid::measure

namespace skid::commands {

/// The default input of commands for recordings, as perf has it.
inline constexpr const char* kDefaultRecording = "perf.data";

/// Whether a regular file is one of skidscan's reports, by its beginning.
bool is_report(const std::string& file);

/// For commands that take samples: throws InputError for a report, which holds none.
void refuse_report(const std::string& file);

/// Opens a recording for a command that does not accept runs. Throws InputError as Recording::open
/// does, with a remedy where `file` is a run, a report, or the default and missing.
perfdata::Recording open_recording(const std::string& file);

/// Prints each fault of a recording that was read to its end. Returns read_in_part if records are
/// missing, else done. Throws InputError if it has no event, so that nothing can be read.
ExitStatus print_faults(const perfdata::Recording& recording);

/// The outcome of reading the inputs.
struct InputsRead {
  bool read_in_part = false;    ///< of some recording or input something is missing
  bool has_unreadable = false;  ///< nothing of some input could be read
};

/// What inputs a command reads: those given, or skidscan.run, or else perf.data. Throws Error when
/// there is none.
std::vector<std::string> inputs_or_default_run(std::vector<std::string> inputs);

/// The rest of the work on a recording that was read. Returns whether it was read in part.
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
                          const OutputOptions& shown, const Read& read);

/// Fills `results` with the result of `make` for each recording; several threads call it at once.
/// Prints the faults of each, its particulars with --verbose, and what `filter` selected of all.
/// Refuses reports of skidscan.
template <typename Result, typename Make>
InputsRead each_result(const std::vector<std::string>& inputs, Cores& cores,
                       const locate::Filter& filter, const OutputOptions& shown,
                       std::vector<Result>& results, Make make) {
  locate::Filtered filtered;
  const auto read = [&](const measure::Source& source, std::size_t) {
    refuse_report(source.file.string());
    return Finish([&, result = make(source)]() mutable {
      for (const auto& line : result.particulars) shown.explain(line);
      for (const auto& fault : result.faults) print_error(describe(fault));
      filtered.add(result.filtered);
      results.push_back(std::move(result));
      return results.back().read_in_part;
    });
  };
  const InputsRead done = each_recording(inputs, cores, shown, read);
  note_filtered(filter, filtered, shown);
  return done;
}

/// The result of reading all inputs.
struct Findings {
  std::vector<std::string> inputs;                  ///< as given, or the default run
  std::vector<analysis::Measurement> measurements;  ///< in the order of the inputs
  std::vector<std::size_t> input_of;                ///< by measurement: the number of its input
  bool read_in_part = false;
};

/// Reads the measurements of all `inputs`: run directories, reports in JSON (known by their first
/// character), or recordings as `measure::measure` takes them; "-" is standard input, recording or
/// report. Without any, of skidscan.run, or else perf.data. `bin_width`: of the histograms, in
/// instructions; nullopt: reports keep theirs, and others get 1. Damage, missing measurements of a
/// run and unreadable inputs are reported on standard error; the others are read nevertheless. The
/// result is empty only if some input could not be read. Throws Error if there is neither an input
/// nor one of these, if the inputs contain nothing to measure, and if the functions of `choices`
/// are not found, as in a report.
Findings read_measurements(std::vector<std::string> inputs, const OutputOptions& shown,
                           measure::Choices choices, std::optional<std::int64_t> bin_width = {});

/// The measurements of --skid RUN; nullopt: `run` is empty. Throws Error if nothing of it can be
/// read.
std::optional<Findings> measured_by(const std::string& run, const OutputOptions& shown,
                                    std::shared_ptr<measure::Catalogues> catalogues);

}  // namespace skid::commands
