// From a recording to its measurements: one per recorded event.
#pragma once

#include "analysis/description.h"
#include "analysis/measurement.h"
#include "analysis/part.h"
#include "src/locate/filter.h"
#include "src/locate/search_places.h"
#include "src/support/error.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skid {
class Cores;
}  // namespace skid

namespace skid::run {
struct PlannedMeasurement;
struct Run;
}  // namespace skid::run

namespace skid::measure {

class Catalogues;

/// One recording to measure, with its entry in its run.
struct Source {
  std::filesystem::path file;                ///< the perf.data file, by the name that is shown
  std::filesystem::path run_directory = {};  ///< empty for a bare perf.data
  const run::Run* run = nullptr;             ///< null for a bare perf.data
  const run::PlannedMeasurement* planned = nullptr;
  /// Directory with the files of a packed run; empty: they are where their names say.
  std::filesystem::path unpacked = {};

  /// Returns the directory with the files of the run.
  const std::filesystem::path& directory() const {
    return unpacked.empty() ? run_directory : unpacked;
  }
  /// Returns the file with the content of the recording.
  std::filesystem::path content() const {
    return unpacked.empty() ? file : unpacked / file.filename();
  }
  /// Returns the name that is shown of a file which may be one of the run.
  std::filesystem::path shown(const std::filesystem::path& path) const {
    return !unpacked.empty() && path.parent_path() == unpacked ? run_directory / path.filename()
                                                               : path;
  }
};

/// How to read a recording.
struct ReadingChoices {
  locate::SearchPlaces places = {};
  locate::Filter filter = {};  ///< filter of events and samples
  /// Counts the core of a long file's second thread; null: it is not counted.
  Cores* cores = nullptr;
  /// The knowledge of events, for all recordings; null: the built-in tables, for this one.
  std::shared_ptr<Catalogues> catalogues = {};
};

/// How to read and measure a recording.
struct Choices : ReadingChoices {
  /// Names of the functions that count as trigger and runway, instead of a target's own note.
  std::optional<std::string> hit_function = {}, runway_function = {};
  std::int64_t bin_width = 1;  ///< instructions
};

/// How a recording was read.
struct ReadResult {
  std::vector<InputFault> faults;  ///< damage of the recording
  bool read_in_part = false;
  /// Sources used: "FILE: target PATH, build-id …", "FILE: events of libpfm4, skl".
  std::vector<std::string> particulars = {};
  /// Files and directories of SearchPlaces that this recording did not use, with the reason.
  std::map<std::filesystem::path, std::string> unused = {};
  std::string no_samples = {};  ///< why the recording has no samples; empty: it has some
};

/// The measurements of a recording.
struct Measured : ReadResult {
  std::vector<analysis::Measurement> measurements;
};

/// What an audit or a correction contains of the recording as a whole.
struct RecordingSummary : ReadResult {
  std::string run;  ///< directory; empty for a bare recording
  std::string file;
  bool synthetic = false;
  std::optional<analysis::SampleTime> time;  ///< nullopt: the recording does not contain it
  analysis::Cpu cpu;
  std::string kernel;
  locate::Filtered filtered;  ///< samples that the filter left out
  /// Remarks on losses, and on files that were refused or not found.
  std::vector<std::string> remarks;
};

/// Reads, locates, classifies and judges a recording. Several threads may do so at once. Throws
/// InputError when nothing of it can be read, Error if the named functions are not found.
Measured measure(const Source& source, const Choices& choices);

}  // namespace skid::measure
