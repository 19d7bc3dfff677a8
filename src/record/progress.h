// The progress of a recording session on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::run {
struct PlannedMeasurement;
}  // namespace skid::run

namespace skid::record {

/// Shows progress: on a terminal one line that is rewritten, elsewhere a line per measurement.
class Progress {
 public:
  enum class Style { silent, lines, terminal };

  /// `total` measurements, of which `done` are already finished. `verbose`: also prints `explain`.
  Progress(Style style, std::size_t total, std::size_t done, bool verbose = false)
      : style_(style), verbose_(verbose), total_(total), done_(done) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear_line(); }

  /// Reports that a measurement begins, or begins again because it is extended.
  void begin(const run::PlannedMeasurement& measurement);
  /// Reports that the recording in progress has grown to this many bytes.
  void grown_to(std::uint64_t bytes);
  /// Reports that the measurement ended with this many samples in a file of this size.
  void finish(std::uint64_t samples, std::uint64_t bytes);
  /// Reports that the measurement was refused.
  void refuse(std::string_view reason);
  /// Prints a separate line.
  void say(std::string_view line);
  /// Prints a line about a step and its reason if `verbose` is set.
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
  double seconds_here_ = 0;  ///< duration of those
  /// Initially the size of a sample of `perf record` without options: header, IP, pid and tid,
  /// time, event id.
  double bytes_per_sample_ = 40;
  std::string requested_;
  int repeat_ = 1;
  Clock::time_point begin_;
  bool line_shown_ = false;
};

/// Chooses the style of progress that suits standard error.
Progress::Style progress_style(bool quiet);

/// Formats a duration: "8 s", "2 min 5 s", "1 h 4 min".
std::string duration_text(double seconds);

}  // namespace skid::record
