// Carrying a plan out: one `perf record` after the other, every one whole or not there.
#pragma once

#include "src/record/plan.h"
#include "src/support/file.h"

#include <chrono>
#include <csignal>
#include <functional>

namespace skid::record {

/// During its lifetime SIGINT, SIGTERM and SIGHUP do not end this process but are recorded; those
/// that were ignored at the start stay ignored. The destructor restores the handlers and does not
/// deliver recorded signals.
class Interrupts {
 public:
  Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  /// True once for each time that one has come since the last call.
  bool take();

 private:
  sigset_t watched_{};
  sigset_t mask_before_{};
  FileDescriptor signals_;
};

/// On a terminal one line that is written again and again; elsewhere a line per measurement.
class Progress {
 public:
  enum class Style { silent, lines, terminal };

  /// `total` measurements, of which `done` are there already. `verbose`: also `explain`.
  Progress(Style style, std::size_t total, std::size_t done, bool verbose = false)
      : style_(style), verbose_(verbose), total_(total), done_(done) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear_line(); }

  /// A measurement begins; again when it is extended.
  void begin(const run::PlannedMeasurement& measurement);
  /// The recording in progress has grown to this many bytes.
  void grown_to(std::uint64_t bytes);
  /// It ended with this many samples in a file of this size.
  void finish(std::uint64_t samples, std::uint64_t bytes);
  void refuse(std::string_view reason);
  /// Prints a separate line.
  void say(std::string_view line);
  /// The same, for steps and their reasons.
  void explain(std::string_view line) {
    if (verbose_) say(line);
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::string heading() const;
  std::optional<double> seconds_left() const;
  void clear_line();

  Style style_;
  bool verbose_;
  std::size_t total_;
  std::size_t done_;
  std::size_t finished_here_ = 0;
  double seconds_here_ = 0;  ///< that those took
  /// At first header, IP, pid and tid, time, event id: a sample of `perf record` without options.
  double bytes_per_sample_ = 40;
  std::string requested_;
  int repeat_ = 1;
  Clock::time_point begin_;
  bool line_shown_ = false;
};

/// The style of progress that suits standard error.
Progress::Style progress_style(bool quiet);

/// "8 s", "2 min 5 s", "1 h 4 min".
std::string duration_text(double seconds);

enum class SessionEnd { complete, interrupted };

/// Records the pending measurements of a run into its directory. run.json is written after each, so
/// that what is finished stays whatever happens to the rest. `targets` by trigger kind. `finished`
/// is called after each measurement that has its file. Throws Error when a recording fails for a
/// reason that is not the event's: no permission, a full disk, a target or perf that died.
SessionEnd record_pending(run::Run& run, const std::filesystem::path& directory,
                          const std::map<std::string, runway::Target>& targets, Progress& progress,
                          Interrupts& interrupts, const std::function<void()>& finished);

/// Prepares a partial run to be finished here: removes what an interrupted measurement left, and
/// notes a change of perf. Gives its targets. Throws Error where it was begun on another machine or
/// with other targets, or where files are of another user, but root.
Targets continue_run(run::Run& run, const std::filesystem::path& directory,
                     const machine::Machine& here, const machine::PerfTool& perf);

/// Now, as run.json writes it: "2026-01-02T03:04:05Z".
std::string utc_now();

}  // namespace skid::record
