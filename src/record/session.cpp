#include "src/record/session.h"

#include "analysis/wording.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "src/machine/configuration.h"
#include "src/machine/machine.h"
#include "src/record/interrupts.h"
#include "src/record/progress.h"
#include "src/run/perftool/perftool.h"
#include "src/run/perftool/record_command.h"
#include "src/run/perftool/try_length.h"
#include "src/run/run.h"
#include "src/support/command_text.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "src/support/temporary_directory.h"
#include "src/support/text.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::record {
namespace {

namespace fs = std::filesystem;
using run::PlannedMeasurement;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::chrono::milliseconds kGlance{100};  // between looks at progress and interrupts
constexpr seconds kPatience{5};                    // for perf to end when asked to
constexpr int kMostTraps = 4;                      // attempts that a debug exception ends

/// Two FIFOs in a directory that only we can enter; a run directory may be on a file system that
/// has no FIFOs.
class ControlFifos {
 public:
  ControlFifos() : directory_(parent()) {
    for (const fs::path& fifo : {control(), acknowledge()}) {
      if (::mkfifo(fifo.c_str(), 0600) == 0) continue;
      throw Error("{}: cannot be created: {}; name a directory that can have FIFOs in TMPDIR",
                  fifo.string(), describe_errno(errno));
    }
  }

  fs::path control() const { return directory_.path() / "control"; }
  fs::path acknowledge() const { return directory_.path() / "acknowledge"; }

 private:
  static fs::path parent() {
    fs::path parent = TemporaryDirectory::usual_parent();
    // perf splits the argument of --control fifo:CONTROL,ACK at the first comma.
    return contains(parent.string(), ',') ? "/tmp" : parent;
  }

  TemporaryDirectory directory_;
};

/// A recording in the making, removed unless it was finished.
class PartialFile {
 public:
  explicit PartialFile(fs::path path) : path_(std::move(path)) {}
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() { remove(); }

  /// Deletes the file of a failed attempt; perf would otherwise rename it.
  void remove() const noexcept {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

 private:
  fs::path path_;
};

std::uint64_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

/// A target is a program, and run.json has arguments of perf: those of another user are not run.
/// Throws Error.
void check_owner(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;  // reading it reports the reason
  if (status.st_uid == 0 || status.st_uid == ::geteuid()) return;
  throw Error(
      "{}: belongs to another user (uid {}), whose programs are not run; take it over with chown, "
      "or record anew",
      path.string(), status.st_uid);
}

/// The targets of an existing run. Throws Error if one differs from the target that the run was
/// begun with.
Targets read_targets(const run::Run& run, const fs::path& directory) {
  Targets targets;
  for (const run::RunTarget& recorded : run.targets) {
    const fs::path path = directory / recorded.file;
    check_owner(path);
    std::optional<runway::Target> target = runway::read_target(path);
    if (!target || target->build_id != recorded.build_id) {
      throw Error(
          "{}: is not the target that this run was begun with (build-id {}, run.json has {}); "
          "record anew",
          path.string(), target ? target->build_id : "unknown", recorded.build_id);
    }
    targets.emplace(recorded.file, std::move(*target));
  }
  for (const run::PlannedMeasurement& measurement : run.measurements) {
    if (measurement.state == run::State::pending && !targets.contains(measurement.target)) {
      throw Error("{}: has no target for the trigger \"{}\"; record anew",
                  (directory / run::kFileName).string(), measurement.trigger);
    }
  }
  return targets;
}

/// Measurements of two machines in one run would be compared as if they were of one.
void check_same_machine(const run::Run& run, const machine::Machine& here) {
  const auto known = [](const std::string& value) { return value.empty() ? "unknown" : value; };
  std::vector<std::string> differing;
  for (const auto& [then, now] :
       machine::differences(machine::configuration_of(run.machine.cpu, run.machine.kernel, true),
                            machine::configuration_of(here.cpu, here.kernel, true))) {
    differing.push_back(
        fmt::format("{} {}, now {}", then.name, known(then.value), known(now.value)));
  }
  if (!differing.empty()) {
    throw Error("the run was begun on another machine, or this one has changed ({}); record anew",
                fmt::join(differing, "; "));
  }
  const std::vector<int>& allowed = here.allowed_cpus;
  for (const run::PlannedMeasurement& measurement : run.measurements) {
    if (measurement.state != run::State::pending) continue;
    const int cpu = measurement.cpu.value_or(run.cpu);
    if (allowed.empty() || std::ranges::binary_search(allowed, cpu)) continue;
    throw Error("the run was begun on CPU {}, where this process may not run; expected one of {}",
                cpu, fmt::join(allowed, ", "));
  }
}

struct RecordSession {
  run::Run& run;
  const fs::path& directory;
  const Targets& targets;
  Progress& progress;
  Interrupts& interrupts;
  const std::function<void()>& finished;
  /// The length that gave an event enough samples, so that its next level starts with it.
  std::map<std::string, nanoseconds> sufficient = {};

  SessionEnd record(PlannedMeasurement& measurement) {
    const auto known = sufficient.find(measurement.event);
    if (known != sufficient.end() && std::holds_alternative<nanoseconds>(measurement.length)) {
      measurement.length = known->second;
      progress.explain(fmt::format("{}: begins with the {:.1f} s that its last level took",
                                   measurement.requested,
                                   std::chrono::duration<double>(known->second).count()));
    }
    const PartialFile partial(partial_file_of(measurement));
    std::string refused_addresses;  // why, once they are
    int traps = 0;
    for (;;) {
      partial.remove();
      progress.begin(measurement);
      const std::optional<perftool::Outcome> outcome = attempt(measurement);
      if (!outcome) return SessionEnd::interrupted;
      // Some virtual machines deliver a debug exception after perf has removed its breakpoint. The
      // kernel passes it on to the program that runs: 1 in 20 runs of perf record -e mem:ADDR:x on
      // one CPU of a Firecracker guest.
      if (outcome->signal == SIGTRAP && ++traps < kMostTraps) {
        progress.say(fmt::format("{}: a debug exception ended the target; recorded again",
                                 measurement.requested));
        continue;
      }
      if (is_refused(measurement, *outcome)) {
        // Some events are refused with a data source: mem-loads without mem-loads-aux on Sapphire
        // Rapids and Alder Lake (intel_pmu_hw_config() in arch/x86/events/intel/core.c).
        if (measurement.data_addresses) {
          measurement.data_addresses = measurement.weights = measurement.registers = false;
          refused_addresses = fmt::format("{} ({})", perftool::kAddressesRefused, outcome->reason);
          continue;
        }
        measurement.state = run::State::refused;
        measurement.reason = outcome->reason;
        measurement.messages = outcome->messages.remarks;
        progress.refuse(measurement.reason);
        return SessionEnd::complete;
      }
      const std::uint64_t samples = perftool::samples_of_first_event(partial_file_of(measurement));
      const auto length = longer(measurement, samples);
      if (!length) {
        accept(measurement, *outcome, samples);
        if (!refused_addresses.empty()) {
          progress.say(fmt::format("{}: {}", measurement.requested, refused_addresses));
          measurement.messages.push_back(std::move(refused_addresses));
        }
        return SessionEnd::complete;
      }
      measurement.length = *length;
      progress.say(fmt::format("{}: {} of {} requested samples; recorded again for {:.1f} s",
                               measurement.requested, analysis::in_thousands(samples),
                               analysis::in_thousands(measurement.samples),
                               std::chrono::duration<double>(*length).count()));
    }
  }

  std::optional<perftool::Outcome> attempt(PlannedMeasurement& measurement) {
    const runway::Target& target = targets.at(measurement.target);
    const std::optional<ControlFifos> fifos =
        run.perf.has_control() ? std::optional<ControlFifos>(std::in_place) : std::nullopt;
    const perftool::Recording recording{.subject = measurement,
                                        .output = partial_file_of(measurement),
                                        .target = target.path,
                                        .cpu = measurement.cpu.value_or(run.cpu),
                                        .control = fifos ? fifos->control() : fs::path(),
                                        .acknowledge = fifos ? fifos->acknowledge() : fs::path()};
    measurement.command = perftool::record_command(run.perf, recording);
    measurement.started = utc_now();
    progress.explain(
        fmt::format("{}: {}", measurement.requested, command_text(measurement.command)));
    ChildProcess perf(measurement.command, directory, Survival::is_killed);
    while (!perf.wait(kGlance)) {
      if (interrupts.take()) {
        // The recording is not kept, but perf is given the time to end its target.
        perf.signal_group(SIGINT);
        const auto deadline = std::chrono::steady_clock::now() + kPatience;
        while (!perf.wait(kGlance) && std::chrono::steady_clock::now() < deadline &&
               !interrupts.take()) {
        }
        return std::nullopt;
      }
      progress.grown_to(size_of(recording.output));
    }
    measurement.ended = utc_now();
    return perftool::judge(perf.result(), recording.output, measurement, run.machine);
  }

  bool is_refused(const PlannedMeasurement& measurement, const perftool::Outcome& outcome) const {
    using enum perftool::Ending;
    if (outcome.ending == recorded || outcome.ending == refused) return outcome.ending == refused;
    throw Error("{}: {}",
                outcome.ending == disk_full ? file_of(measurement).string() : measurement.requested,
                outcome.reason);
  }

  std::optional<nanoseconds> longer(const PlannedMeasurement& measurement,
                                    std::uint64_t samples) const {
    const auto* length = std::get_if<nanoseconds>(&measurement.length);
    if (length == nullptr || run.duration_seconds) return std::nullopt;
    return perftool::next_length(*length, samples, measurement.samples);
  }

  void accept(PlannedMeasurement& measurement, const perftool::Outcome& outcome,
              std::uint64_t samples) {
    const fs::path file = file_of(measurement);
    const std::uint64_t bytes = size_of(partial_file_of(measurement));
    if (::rename(partial_file_of(measurement).c_str(), file.c_str()) != 0) {
      throw Error("{}: cannot be written: {}", file.string(), describe_errno(errno));
    }
    measurement.messages = outcome.messages.remarks;
    run::note_samples(measurement, samples, run.machine.cpu);
    measurement.target_report = outcome.report;
    measurement.state = run::State::finished;
    if (const auto* length = std::get_if<nanoseconds>(&measurement.length)) {
      sufficient[measurement.event] = *length;
    }
    progress.finish(samples, bytes);
    if (!measurement.reason.empty()) {
      progress.say(fmt::format("{}: {}", measurement.requested, measurement.reason));
    }
    finished();
  }

  fs::path file_of(const PlannedMeasurement& measurement) const {
    return directory / measurement.file;
  }
  fs::path partial_file_of(const PlannedMeasurement& measurement) const {
    return directory / (measurement.file + ".partial");
  }
};

}  // namespace

std::string utc_now() {
  // Not by gmtime(), which reads the time zone of the machine.
  const auto now = std::chrono::floor<seconds>(std::chrono::system_clock::now());
  const auto midnight = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day day(midnight);
  const std::chrono::hh_mm_ss time(now - midnight);
  return fmt::format("{}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int{day.year()}, unsigned{day.month()},
                     unsigned{day.day()}, time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

SessionEnd record_pending(run::Run& run, const fs::path& directory, const Targets& targets,
                          Progress& progress, Interrupts& interrupts,
                          const std::function<void()>& finished) {
  RecordSession session{run, directory, targets, progress, interrupts, finished};
  run::write_run(run, directory);
  for (PlannedMeasurement& measurement : run.measurements) {
    if (measurement.state != run::State::pending) continue;
    if (interrupts.take() || session.record(measurement) == SessionEnd::interrupted) {
      return SessionEnd::interrupted;
    }
    run.ended = utc_now();
    run::write_run(run, directory);
  }
  return SessionEnd::complete;
}

Targets continue_run(run::Run& run, const fs::path& directory, const machine::Machine& here,
                     const machine::PerfTool& perf) {
  for (const fs::path& path : {directory, directory / run::kFileName}) check_owner(path);
  check_same_machine(run, here);
  Targets targets = read_targets(run, directory);
  std::error_code ignored;
  for (const run::PlannedMeasurement& measurement : run.measurements) {
    fs::remove(directory / (measurement.file + ".partial"), ignored);
  }
  if (perf.version != run.perf.version) {
    run.notes.push_back(
        fmt::format("begun with perf {}, resumed with perf {}", run.perf.version, perf.version));
  }
  run.perf = perf;
  return targets;
}

}  // namespace skid::record
