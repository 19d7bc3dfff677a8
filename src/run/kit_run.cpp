#include "runway/specification.h"
#include "runway/target_report.h"
#include "src/machine/machine.h"
#include "src/run/perftool/perftool.h"
#include "src/run/perftool/record_command.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/support/text.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace skid::machine {
struct CpuIdentity;
}  // namespace skid::machine

namespace skid::run {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLongestText = std::uint64_t{16} << 20;  // what `record` keeps of a stream
constexpr std::uint64_t kLongestLines = std::uint64_t{1} << 20;
constexpr std::size_t kMostLines = 4096;
constexpr std::size_t kLongestTime = 32;
constexpr std::string_view kFormat = "1";

[[noreturn]] void refuse(const fs::path& file, std::string found, std::string expected,
                         std::string remedy = {}) {
  throw InputError({.file = file.string(),
                    .found = std::move(found),
                    .expected = std::move(expected),
                    .remedy = std::move(remedy)});
}

fs::file_type type_of(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type();
}

/// A link would lead to files that the run does not have.
void check_directory(const fs::path& path) {
  const fs::file_type type = type_of(path);
  if (type == fs::file_type::not_found || type == fs::file_type::directory) return;
  refuse(path, type == fs::file_type::symlink ? "a symbolic link" : "no directory", "a directory");
}

/// The content of a file that need not be there.
std::optional<std::string> text_of(const fs::path& path, std::uint64_t limit) {
  const fs::file_type type = type_of(path);
  if (type == fs::file_type::not_found) return std::nullopt;
  if (type == fs::file_type::symlink) refuse(path, "a symbolic link", "a regular file");
  return read_file(path, limit);
}

/// Output of perf or the target; it is written before the result.
std::string stream_of(const fs::path& path) {
  auto text = text_of(path, kLongestText);
  if (!text) refuse(path, "no such file", "output of perf", "copy the run again");
  return std::move(*text);
}

/// A kit's files are in its directory and not below it, so that no link can be on the path.
void check_file(const fs::path& directory, const std::string& name) {
  const fs::path path = directory / name;
  if (fs::path(name).has_parent_path()) refuse(path, "a directory in a name", "a name");
  if (type_of(path) == fs::file_type::symlink) refuse(path, "a symbolic link", "a regular file");
}

/// Lines `key=value`; a key can occur several times.
class Fields {
 public:
  explicit Fields(fs::path path) : path_(std::move(path)) {
    const auto text = text_of(path_, kLongestLines);
    there_ = text.has_value();
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    for (std::size_t lines = 0; !rest.empty(); ++lines) {
      if (lines == kMostLines) refuse(path_, fmt::format("more than {} lines", kMostLines), "");
      const std::string_view line = take_until('\n', rest);
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos || equals == 0) {
        refuse(path_, "a line without a key", "lines key=value");
      }
      values_[std::string(line.substr(0, equals))].emplace_back(line.substr(equals + 1));
    }
    if (there_ && first("format") != kFormat) {
      refuse(path_, fmt::format("format \"{}\"", first("format")),
             fmt::format("format \"{}\"", kFormat), "read it with the skidscan that made the kit");
    }
  }

  const fs::path& path() const noexcept { return path_; }
  bool there() const noexcept { return there_; }

  const std::vector<std::string>& all(const std::string& key) const {
    static const std::vector<std::string> kNone;
    const auto found = values_.find(key);
    return found == values_.end() ? kNone : found->second;
  }
  std::string first(const std::string& key) const {
    return all(key).empty() ? std::string() : all(key).front();
  }
  std::string last(const std::string& key) const {
    return all(key).empty() ? std::string() : all(key).back();
  }

  std::int64_t number(const std::string& key, std::int64_t least, std::int64_t most) const {
    const std::string text = last(key);
    const auto value = whole_number<std::int64_t>(text);
    if (!value || *value < least || *value > most) {
      refuse(path_, fmt::format("{} \"{}\"", key, text.substr(0, kLongestTime)),
             fmt::format("a number from {} to {}", least, most));
    }
    return *value;
  }
  /// "2026-01-02T03:04:05Z".
  static std::string checked_time(const fs::path& path, const std::string& text) {
    constexpr std::string_view kAllowed = "0123456789-:TZ";
    if (text.size() > kLongestTime || text.find_first_not_of(kAllowed) != std::string::npos) {
      refuse(path, fmt::format("time \"{}\"", text.substr(0, kLongestTime)),
             "ISO 8601 in UTC: 2026-01-02T03:04:05Z");
    }
    return text;
  }

 private:
  fs::path path_;
  bool there_ = false;
  std::map<std::string, std::vector<std::string>> values_;
};

/// Exit statuses as in a shell: 128 + the signal. perf itself exits with 129 on wrong options;
/// SIGHUP, the signal of that status, would also end the shell.
ExitCode exit_code(std::int64_t status) {
  constexpr std::int64_t kUsageOfPerf = 129;
  constexpr std::int64_t kHighestSignal = 64;
  const std::int64_t signal = status - 128;
  if (status != kUsageOfPerf && signal > 0 && signal <= kHighestSignal) {
    return {.status = 0, .signal = static_cast<int>(signal)};
  }
  return {.status = static_cast<int>(status), .signal = 0};
}

void add_shortage(PlannedMeasurement& measurement, const fs::path& file,
                  const machine::CpuIdentity& cpu) {
  try {
    note_samples(measurement, perftool::samples_of_first_event(file), cpu);
  } catch (const InputError&) {
    // Reported when the recording is read.
  }
}

/// The state of a measurement, from the files in `directory`.
void read_result(const fs::path& directory, const Run& run, PlannedMeasurement& measurement) {
  const fs::path results = directory / kResultsName;
  const Fields fields(results / (measurement.file + ".result"));
  if (!fields.there()) return;
  const Completed left{.code = exit_code(fields.number("status", 0, 255)),
                       .out = stream_of(results / (measurement.file + ".out")),
                       .err = stream_of(results / (measurement.file + ".err"))};
  const fs::path file = directory / measurement.file;
  const bool there = type_of(file) == fs::file_type::regular;
  // Older kits wrote "witness".
  for (const char* key : {"cross_check", "witness"}) {
    if (fields.last(key) == "no") measurement.cross_check.clear();
  }
  perftool::Outcome outcome = perftool::judge(left, file, measurement, run.machine);
  // A recording gets its name last of all: without it the measurement was broken off.
  const bool ended_well = left.code.success() && outcome.report.has_value();
  if ((ended_well && !there) || outcome.ending == perftool::Ending::disk_full) return;
  if (outcome.ending == perftool::Ending::died && !(ended_well && there)) {
    measurement.reason = std::move(outcome.reason);
    return;
  }

  measurement.command = fields.all("word");
  measurement.started = Fields::checked_time(fields.path(), fields.last("started"));
  measurement.ended = Fields::checked_time(fields.path(), fields.last("ended"));
  if (std::holds_alternative<std::chrono::nanoseconds>(measurement.length)) {
    measurement.length = std::chrono::nanoseconds(
        fields.number("nanoseconds", 1, std::numeric_limits<std::int64_t>::max()));
  }
  measurement.messages = std::move(outcome.messages.remarks);
  if (measurement.data_addresses && !perftool::has_data_addresses(measurement.command)) {
    measurement.data_addresses = measurement.weights = false;
    measurement.messages.emplace_back(perftool::kAddressesRefused);
  }
  // A file that is not a recording is reported when it is read.
  if (!ended_well || outcome.ending == perftool::Ending::refused) {
    measurement.state = State::refused;
    measurement.reason = std::move(outcome.reason);
    return;
  }
  measurement.state = State::finished;
  measurement.target_report = std::move(outcome.report);
  add_shortage(measurement, file, run.machine.cpu);
}

/// perf as the last session found it.
machine::PerfTool perf_of(const Fields& session, const std::string& version) {
  machine::PerfTool perf =
      machine::parse_perf_version("perf version " + version).value_or(machine::PerfTool{});
  perf.path = session.last("perf");
  return perf;
}

void add_notes(const Fields& session, Run& run) {
  if (std::string note = perftool::control_note(run.perf); !note.empty()) {
    run.notes.insert(run.notes.begin(), std::move(note));
  }
  for (const std::string& version : session.all("perf_version")) {
    if (version == run.perf.version) continue;
    run.notes.push_back(
        fmt::format("begun with perf {}, resumed with perf {}", version, run.perf.version));
    break;
  }
  for (const std::string& note : session.all("note")) run.notes.push_back(note);
}

}  // namespace

Run read_kit_run(const fs::path& directory) {
  const fs::path plan = directory / kPlanName;
  if (type_of(plan) == fs::file_type::symlink) refuse(plan, "a symbolic link", "a regular file");
  const Fields session(directory / kSessionName);
  if (!session.there()) {
    refuse(directory, "a kit that has not recorded anything here", "a run",
           "run it: sh run.sh -o DIR, and name DIR");
  }
  check_directory(directory / kMachineName);
  check_directory(directory / kResultsName);
  Run run = read_description(plan);
  run.by_kit = true;
  for (const RunTarget& target : run.targets) check_file(directory, target.file);
  run.machine = machine::inspect(directory / kMachineName);
  run.perf = perf_of(session, session.last("perf_version"));
  run.cpu = static_cast<int>(session.number("cpu", 0, std::numeric_limits<int>::max()));
  run.started = Fields::checked_time(session.path(), session.first("started"));
  run.ended = run.started;
  for (PlannedMeasurement& measurement : run.measurements) {
    measurement.state = State::pending;
    measurement.command.clear();
    check_file(directory, measurement.file);
    read_result(directory, run, measurement);
    run.ended = std::max(run.ended, measurement.ended);
  }
  add_notes(session, run);
  return run;
}

}  // namespace skid::run
