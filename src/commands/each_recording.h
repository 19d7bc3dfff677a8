// Reads each recording of the runs and files that a command is given.
#pragma once

#include "src/commands/distinct_recordings.h"
#include "src/commands/inputs.h"
#include "src/commands/output_options.h"
#include "src/commands/reading_options.h"
#include "src/commands/terminal.h"
#include "src/locate/filter.h"
#include "src/measure/measure.h"
#include "src/support/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid {
class Cores;
}  // namespace skid

namespace skid::commands {

/// The outcome of reading the inputs.
struct InputsRead {
  bool read_in_part = false;             ///< some recording or input lacks records or measurements
  bool is_any_read = false;              ///< some recording was read, at least in part
  std::vector<UnreadInput> unread = {};  ///< files by the order of the inputs, then runs
  Sampled sampled = Sampled::all;        ///< none: also where the filter selects no sample

  /// Returns the exit status of a command that did all that it could.
  ExitStatus status() const {
    return is_any_read ? status_of(sampled, read_in_part) : ExitStatus::failed;
  }
};

/// Counts the samples of each input that was read.
class InputSamples {
 public:
  /// Adds those of one of its recordings. `why`: why it has none; may be empty.
  void add(std::size_t input, std::uint64_t samples, std::string_view why = {});
  Sampled sampled() const;
  /// Prints which inputs have no samples, and why, where others have some.
  Sampled note(const std::vector<std::string>& inputs) const;

 private:
  struct Counted {
    std::uint64_t samples = 0;
    std::string why;
  };
  std::map<std::size_t, Counted> of_input_;
};

/// Does the rest of the work on a recording that was read. Returns whether it was read in part.
using Finish = std::function<bool()>;

/// Reads a recording of the input with this number. Several threads call it at once, for recordings
/// that share nothing but the code that reads them; it must not write anything.
using Read = std::function<Finish(const measure::Source&, std::size_t input)>;

/// Calls `read` for each recording of the inputs, which are run directories and recordings, with as
/// many threads as there are `cores`. The calling thread calls the functions that `read` returns
/// and prints messages, both in the order of the inputs: the output does not depend on the number
/// of threads. Pipes and standard input are read alone, in their turn. Prints what a run is
/// missing, and why an input or recording cannot be read where either throws InputError; the others
/// are read nevertheless. Progress is shown on a terminal; `read` itself must not print.
InputsRead each_recording(const std::vector<std::string>& inputs, Cores& cores,
                          const OutputOptions& shown, const Read& read);

/// The files and directories that the user named and that none of the recordings used.
class UnusedFiles {
 public:
  /// Adds those that one recording did not use, with the reason.
  void add(const std::map<std::filesystem::path, std::string>& of_recording);
  /// Prints a line for each.
  void note(const OutputOptions& shown) const;

 private:
  std::optional<std::map<std::filesystem::path, std::string>> of_all_;
};

/// Fills `results` with the result of `make` for each recording; several threads call `make` at
/// once. Prints the faults of each recording, its particulars with --verbose, and how many samples
/// `filter` selected. Throws InputError for a report of skidscan, and Error for a recording that is
/// in two inputs.
template <typename Result, typename Make>
InputsRead each_result(const std::vector<std::string>& inputs, Cores& cores,
                       const locate::Filter& filter, const OutputOptions& shown,
                       std::vector<Result>& results, Make make) {
  locate::Filtered filtered;
  DistinctRecordings recordings(inputs);
  UnusedFiles unused;
  InputSamples samples;
  const auto read = [&](const measure::Source& source, std::size_t input) {
    refuse_report(source.file.string());
    return Finish([&, input, result = make(source)]() mutable {
      recordings.add(result, input);
      for (const auto& line : result.particulars) shown.explain(line);
      for (const auto& fault : result.faults) print_error(describe(fault));
      filtered.add(result.filtered);
      samples.add(input, result.filtered.all, result.no_samples);
      unused.add(result.unused);
      results.push_back(std::move(result));
      return results.back().read_in_part;
    });
  };
  InputsRead done = each_recording(inputs, cores, shown, read);
  unused.note(shown);
  done.sampled = samples.note(inputs);
  if (!note_filtered(filter, filtered, shown)) done.sampled = Sampled::none;
  return done;
}

}  // namespace skid::commands
