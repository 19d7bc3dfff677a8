#include "src/commands/record_session.h"

#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::commands {

namespace {

namespace fs = std::filesystem;
using run::PlannedMeasurement;
using run::State;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr milliseconds kGlance{100};  // between looks at progress and interrupts
constexpr seconds kPatience{5};       // for perf to end when asked to
/// An event that is rarer than the samples asked for is not waited for longer than this.
constexpr nanoseconds kLongestTry = seconds{16};
/// A run this long without a single event is not extended.
constexpr nanoseconds kLongestEmptyTry = seconds{2};

/// Two FIFOs in a directory that only we can enter; a run directory may be on a file system that
/// has no FIFOs.
class ControlFifos {
 public:
  ControlFifos() {
    std::error_code ignored;
    fs::path parent = fs::temp_directory_path(ignored);
    // perf splits the two names at a comma.
    if (parent.empty() || parent.string().find(',') != std::string::npos) parent = "/tmp";
    std::string name = (parent / "skidscan-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail(name);
    directory_ = name;
    for (const fs::path& fifo : {control(), acknowledge()}) {
      if (::mkfifo(fifo.c_str(), 0600) == 0) continue;
      const int error = errno;
      remove();
      errno = error;
      fail(fifo);
    }
  }
  ControlFifos(const ControlFifos&) = delete;
  ControlFifos& operator=(const ControlFifos&) = delete;
  ControlFifos(ControlFifos&&) = delete;
  ControlFifos& operator=(ControlFifos&&) = delete;
  ~ControlFifos() { remove(); }

  fs::path control() const { return directory_ / "control"; }
  fs::path acknowledge() const { return directory_ / "acknowledge"; }

 private:
  [[noreturn]] static void fail(const fs::path& path) {
    throw Error(
        fmt::format("{}: cannot be created: {}; name a directory that can be written to in "
                    "TMPDIR",
                    path.string(), describe_errno(errno)));
  }
  void remove() const noexcept {
    ::unlink(control().c_str());
    ::unlink(acknowledge().c_str());
    ::rmdir(directory_.c_str());
  }

  fs::path directory_;
};

/// A recording in the making, removed unless it was finished.
class PartialFile {
 public:
  explicit PartialFile(fs::path path) : path_(std::move(path)) {}
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  PartialFile(PartialFile&&) = delete;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile() { remove(); }

  /// Makes room for another attempt; perf would set the last one aside as a file of its own.
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

/// Whether a file begins as a perf.data file of this machine's byte order does.
bool is_recording(const fs::path& path) {
  constexpr std::string_view kMagic = "PERFILE2";
  std::array<char, kMagic.size()> begin{};
  try {
    const FileDescriptor file = open_regular_file(path);
    return ::read(file.get(), begin.data(), begin.size()) == std::ssize(begin) &&
           std::string_view(begin.data(), begin.size()) == kMagic;
  } catch (const InputError&) {
    return false;
  }
}

std::uint64_t samples_of_first_event(const fs::path& path) {
  auto recording = perfdata::Recording::open(path);
  const perfdata::SampleDecoder decoder(recording.attributes(), recording.byte_order());
  std::uint64_t samples = 0;
  perfdata::Record record;
  while (recording.next(record)) {
    if (record.type != perfdata::PERF_RECORD_SAMPLE) continue;
    const auto decoded = decoder.decode(record);
    const bool counts = decoded.problem == perfdata::SampleDecoder::Problem::none;
    if (counts && decoded.sample.attribute == 0) ++samples;
  }
  return samples;
}

/// perf's first remark as a clause, or nothing.
std::string because(const PerfMessages& messages) {
  return messages.remarks.empty() ? "" : ": " + messages.remarks.front();
}

}  // namespace

RecordSession::RecordSession(run::Run& run, fs::path directory,
                             const std::map<std::string, runway::Target>& targets,
                             Progress& progress, Interrupts& interrupts,
                             std::function<void()> finished)
    : run_(run),
      directory_(std::move(directory)),
      targets_(targets),
      progress_(progress),
      interrupts_(interrupts),
      finished_(std::move(finished)) {}

SessionEnd RecordSession::record_pending() {
  write_description();
  for (PlannedMeasurement& measurement : run_.measurements) {
    if (measurement.state != State::pending) continue;
    if (interrupts_.take() || record(measurement) == SessionEnd::interrupted) {
      return SessionEnd::interrupted;
    }
    run_.ended = utc_now();
    write_description();
  }
  return SessionEnd::complete;
}

SessionEnd RecordSession::record(PlannedMeasurement& measurement) {
  if (std::holds_alternative<nanoseconds>(measurement.length)) {
    const auto known = sufficient_.find(measurement.event);
    if (known != sufficient_.end()) measurement.length = known->second;
  }
  const PartialFile partial(partial_file_of(measurement));
  for (;;) {
    partial.remove();
    progress_.begin(measurement);
    const Attempt tried = attempt(measurement);
    if (tried.interrupted) return SessionEnd::interrupted;
    if (is_refused(measurement, tried)) {
      measurement.state = State::refused;
      measurement.reason = tried.messages.refusal.value_or("no reason given");
      measurement.messages = tried.messages.remarks;
      progress_.refuse(measurement.reason);
      return SessionEnd::complete;
    }
    // perf counts the samples of all events together.
    const std::uint64_t samples = measurement.witness.empty()
                                      ? tried.messages.samples
                                      : samples_of_first_event(partial_file_of(measurement));
    const auto length = longer(measurement, samples);
    if (!length) {
      accept(measurement, tried, samples);
      return SessionEnd::complete;
    }
    measurement.length = *length;
    progress_.say(fmt::format("{}: {} samples of {} asked for; recorded again for {:.1f} s",
                              measurement.requested, with_thousands(samples),
                              with_thousands(run_.samples),
                              std::chrono::duration<double>(*length).count()));
  }
}

RecordSession::Attempt RecordSession::attempt(PlannedMeasurement& measurement) {
  const runway::Target& target = targets_.at(measurement.trigger);
  const std::optional<ControlFifos> fifos =
      run_.perf.has_control() ? std::optional<ControlFifos>(std::in_place) : std::nullopt;
  PerfRecording recording{.event = measurement.perf_event,
                          .period = measurement.period,
                          .witness = measurement.witness,
                          .output = partial_file_of(measurement),
                          .control = fifos ? fifos->control() : fs::path(),
                          .acknowledge = fifos ? fifos->acknowledge() : fs::path(),
                          .target = {}};
  recording.target = runway::command_line(target, {.length = measurement.length,
                                                   .cpu = run_.cpu,
                                                   .control = recording.control,
                                                   .acknowledge = recording.acknowledge});
  measurement.command = perf_record_command(run_.perf, recording);
  measurement.started = utc_now();
  ChildProcess perf(measurement.command, directory_);
  while (!perf.wait(kGlance)) {
    if (interrupts_.take()) {
      // The recording is not kept, but perf is given the time to end its target.
      perf.signal_group(SIGINT);
      const auto deadline = std::chrono::steady_clock::now() + kPatience;
      while (!perf.wait(kGlance) && std::chrono::steady_clock::now() < deadline &&
             !interrupts_.take()) {
      }
      return {.interrupted = true, .completed = {}, .messages = {}};
    }
    progress_.grown_to(size_of(recording.output));
  }
  measurement.ended = utc_now();
  return {.interrupted = false,
          .completed = perf.result(),
          .messages = read_perf_messages(perf.result().err)};
}

bool RecordSession::is_refused(const PlannedMeasurement& measurement,
                               const Attempt& attempt) const {
  const PerfMessages& messages = attempt.messages;
  const ExitCode code = attempt.completed.code;
  const std::string& name = measurement.requested;
  if (messages.disk_full) {
    throw Error(fmt::format("{}: cannot be written: no space left on device",
                            file_of(measurement).string()));
  }
  const bool reported = runway::parse_target_report(attempt.completed.out).has_value();
  if (code.success() && reported) {
    if (is_recording(partial_file_of(measurement))) return false;
    throw Error(fmt::format("{}: perf left no recording{}", name, because(messages)));
  }
  // An event that the kernel does not take is refused before the target starts.
  if (!messages.wrote_file && !reported && code.signal == 0) {
    if (messages.no_permission) throw Error(permission_message(run_.machine, name));
    if (messages.refusal) return true;
  }
  // perf ends itself by the signal that ended its target, after writing what it has.
  if (messages.wrote_file && !reported) {
    throw Error(fmt::format("{}: the target {} before its end{}", name,
                            code.signal != 0 ? "was " + describe(code) : std::string("ended"),
                            because(messages)));
  }
  throw Error(
      fmt::format("{}: perf {}{}", name,
                  code.signal != 0 ? "was " + describe(code) : "ended with " + describe(code),
                  because(messages)));
}

std::optional<nanoseconds> RecordSession::longer(const PlannedMeasurement& measurement,
                                                 std::uint64_t samples) const {
  const auto* length = std::get_if<nanoseconds>(&measurement.length);
  if (length == nullptr || run_.duration_seconds || samples >= run_.samples) return std::nullopt;
  if (*length >= (samples == 0 ? kLongestEmptyTry : kLongestTry)) return std::nullopt;
  constexpr double kMargin = 1.2;
  const double factor = samples == 0 ? 2.0
                                     : std::max(2.0, kMargin * static_cast<double>(run_.samples) /
                                                         static_cast<double>(samples));
  const auto longest = std::chrono::duration<double, std::nano>(kLongestTry);
  return std::chrono::duration_cast<nanoseconds>(std::min(longest, *length * factor));
}

void RecordSession::accept(PlannedMeasurement& measurement, const Attempt& attempt,
                           std::uint64_t samples) {
  const fs::path file = file_of(measurement);
  const std::uint64_t bytes = size_of(partial_file_of(measurement));
  if (::rename(partial_file_of(measurement).c_str(), file.c_str()) != 0) {
    throw Error(fmt::format("{}: cannot be written: {}", file.string(), describe_errno(errno)));
  }
  measurement.messages = attempt.messages.remarks;
  if (samples < run_.samples) {
    measurement.messages.push_back(
        fmt::format("{} samples of {} asked for", samples, run_.samples));
  }
  measurement.target_report = runway::parse_target_report(attempt.completed.out);
  measurement.state = State::finished;
  if (const auto* length = std::get_if<nanoseconds>(&measurement.length)) {
    sufficient_[measurement.event] = *length;
  }
  progress_.finish(samples, bytes);
  finished_();
}

void RecordSession::write_description() const {
  run::write_run(run_, directory_);
}

fs::path RecordSession::file_of(const PlannedMeasurement& measurement) const {
  return directory_ / measurement.file;
}

fs::path RecordSession::partial_file_of(const PlannedMeasurement& measurement) const {
  return directory_ / (measurement.file + ".partial");
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, sizeof "2026-01-02T03:04:05Z"> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace skid::commands
