// A run: the directory that `record` leaves, and its description, run.json.
#pragma once

#include "runway/target_report.h"
#include "src/machine/machine.h"
#include "src/run/perftool/record_command.h"
#include "src/support/names.h"
#include "src/support/staged_file.h"
#include "src/support/text.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {
struct CpuIdentity;
}  // namespace skid::machine

namespace skid::run {

/// The most times that all levels are recorded into one run.
inline constexpr int kMostRepeats = 1000;

inline constexpr const char* kSchema = "skidscan.run/1";
inline constexpr const char* kFileName = "run.json";

/// The state of a planned measurement.
enum class State {
  pending,   ///< not recorded yet; `record --resume` does it
  finished,  ///< its file is whole
  refused,   ///< this machine does not take the event at this level; `reason` states why
};
SKID_NAMES(State, "pending", "finished", "refused")

/// One perf record: one event at one precise level.
struct PlannedMeasurement : perftool::Subject {
  std::string event;       ///< requested event without its level: "access", "cycles:u"
  std::string requested;   ///< requested event with its level: "access:pp", "cycles:upp"
  int level = 0;           ///< requested precise level, 0 to 3; with modifier P 0
  int repeat = 1;          ///< number of the repetition, from 1
  std::optional<int> cpu;  ///< CPU of the target if it is not the run's
  std::string trigger;     ///< trigger kind of the target it ran
  std::string target;      ///< that target's file, one of Run::targets
  /// Samples to read at least, so that the requested number can be judged; 0 if a length was
  /// requested instead.
  std::uint64_t samples = 0;
  std::string file;  ///< recording, relative to the run directory
  State state = State::pending;
  /// The reason for a refusal or for no samples, or how the last try to record it ended.
  std::string reason;
  std::vector<std::string> command;  ///< perf's command line as executed
  std::string started, ended;        ///< ISO 8601, UTC; empty while pending
  std::optional<runway::TargetReport> target_report;
  std::vector<std::string> messages;  ///< perf's relevant messages, a line each
};

/// Notes in a finished measurement how many samples it lacks, and in `reason` why none came.
void note_samples(PlannedMeasurement& measurement, std::uint64_t samples,
                  const machine::CpuIdentity& cpu);

/// A target in a run directory.
struct RunTarget {
  std::string trigger;  ///< trigger kind
  std::string file;     ///< relative to the run directory
  std::string build_id;
};

/// The content of run.json.
struct Run {
  std::string tool_version;
  std::vector<std::string> command_line;  ///< command line of skidscan; `record --resume` keeps it
  bool synthetic = false;
  machine::Machine machine;
  machine::PerfTool perf;
  int cpu = 0;                ///< the CPU that targets are pinned to
  std::uint64_t samples = 0;  ///< requested per measurement to be judged; 0 with a duration
  std::optional<double> duration_seconds;
  std::string started, ended;  ///< ISO 8601, UTC
  std::vector<RunTarget> targets;
  std::vector<PlannedMeasurement> measurements;
  std::vector<std::string> notes;  ///< what was decided and why, a line each

  /// True while a measurement is pending.
  bool partial() const {
    return find_by(measurements, &PlannedMeasurement::state, State::pending) != nullptr;
  }
};

/// Makes the name of a recording: "cycles_u.pp.2.data", or "cycles_u.pp.2~2.data" if that is
/// `taken`. The name is added to `taken`. Characters of the event that are special to a file system
/// or shell are replaced. `level`: "none", "pp", "P". `repeat` is 0 for a run without repeats.
std::string recording_name(std::string_view event, std::string_view level, int repeat,
                           std::set<std::string>& taken);

/// Whether `directory` contains a run of `record`.
bool is_run(const std::filesystem::path& directory);

/// Reads DIR/run.json (docs/run.md). Every key is checked for its type and bounds; names of files
/// that point out of the directory are refused. Throws InputError naming the file and the key.
Run read_run(const std::filesystem::path& directory);

/// Returns the text that write_run() writes.
std::string description_of(const Run& run);

/// Writes DIR/run.json atomically: a reader sees the old or the new one. Throws Error.
inline void write_run(const Run& run, const std::filesystem::path& directory) {
  write_file_atomically(directory / kFileName, description_of(run));
}

}  // namespace skid::run
