// Progress of `record` on standard error.
#pragma once

#include "src/run/run.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skid::record {

/// On a terminal one line that is written again and again; elsewhere a line per measurement.
class Progress {
 public:
  enum class Style { silent, lines, terminal };

  /// `total` measurements, of which `done` are there already. `verbose`: also `explain`.
  Progress(Style style, std::size_t total, std::size_t done, bool verbose = false);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

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
  double bytes_per_sample_;
  std::string requested_;
  int repeat_ = 1;
  Clock::time_point begin_;
  bool line_shown_ = false;
};

/// The style of progress that suits standard error.
Progress::Style progress_style(bool quiet);

/// "8 s", "2 min 5 s", "1 h 4 min".
std::string duration_text(double seconds);

}  // namespace skid::record
