#include "src/record/progress.h"

#include "analysis/wording.h"
#include "src/run/run.h"
#include "src/support/escape.h"
#include "src/support/standard_error.h"

#include <cmath>

#include <fmt/format.h>

namespace skid::record {
namespace {

/// perf writes samples out once its buffer is half full; a smaller file contains almost none.
constexpr std::uint64_t kTellingBytes = 65'536;

}  // namespace

void Progress::begin(const run::PlannedMeasurement& measurement) {
  requested_ = measurement.requested;
  repeat_ = measurement.repeat;
  begin_ = Clock::now();
  grown_to(0);
}

void Progress::grown_to(std::uint64_t bytes) {
  if (style_ != Style::terminal) return;
  std::string line = heading();
  if (bytes >= kTellingBytes) {
    const double samples = static_cast<double>(bytes) / bytes_per_sample_;
    line += fmt::format("  about {} samples",
                        analysis::in_thousands(static_cast<std::uint64_t>(samples)));
  }
  if (const auto left = seconds_left()) line += fmt::format("  {} left", duration_text(*left));
  // The last column stays free: writing it makes some terminals wrap.
  print_to_standard_error("\r\033[K" + shorten(line, standard_error_width() - 1));
  line_shown_ = true;
}

void Progress::finish(std::uint64_t samples, std::uint64_t bytes) {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  if (style_ != Style::silent) {
    say(fmt::format("{}: {} sample{} in {:.1f} s", heading(), analysis::in_thousands(samples),
                    samples == 1 ? "" : "s", seconds));
  }
  if (samples > 0) bytes_per_sample_ = static_cast<double>(bytes) / static_cast<double>(samples);
  ++done_;
  ++finished_here_;
  seconds_here_ += seconds;
}

void Progress::refuse(std::string_view reason) {
  say(fmt::format("{}: refused by this machine: {}", heading(), reason));
  ++done_;
}

void Progress::say(std::string_view line) {
  if (style_ == Style::silent) return;
  clear_line();
  print_to_standard_error(escape_for_terminal(line) + '\n');
}

std::string Progress::heading() const {
  std::string text = fmt::format("{}/{} {}", done_ + 1, total_, requested_);
  if (repeat_ > 1) text += fmt::format(" #{}", repeat_);
  return escape_for_terminal(text);
}

std::optional<double> Progress::seconds_left() const {
  if (finished_here_ == 0) return std::nullopt;
  const double each = seconds_here_ / static_cast<double>(finished_here_);
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
  const auto later = static_cast<double>(total_ - done_ - 1);
  return each * later + std::fmax(0, each - elapsed);
}

void Progress::clear_line() {
  if (!line_shown_) return;
  print_to_standard_error("\r\033[K");
  line_shown_ = false;
}

Progress::Style progress_style(bool quiet) {
  if (quiet) return Progress::Style::silent;
  return standard_error_can_be_erased() ? Progress::Style::terminal : Progress::Style::lines;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace skid::record
