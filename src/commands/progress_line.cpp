#include "src/commands/progress_line.h"

#include "src/support/escape.h"
#include "src/support/standard_error.h"

#include <fmt/format.h>

namespace skid::commands {

ProgressLine::ProgressLine(bool on, std::chrono::milliseconds delay) {
  if (on) thread_ = std::thread([this, delay] { show_until_end(delay); });
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
  erase();
}

void ProgressLine::begins(const char* what, const std::string& name, std::size_t number,
                          std::size_t total) {
  const std::scoped_lock lock(mutex_);
  line_ = fmt::format("{} {}/{} {}", what, number, total, escape_for_terminal(name));
}

bool ProgressLine::suits_standard_error(bool quiet) {
  return !quiet && standard_error_can_be_erased();
}

void ProgressLine::show_until_end(std::chrono::milliseconds delay) {
  constexpr std::chrono::milliseconds kGlance{200};
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, delay, [this] { return ended_; })) {
    delay = kGlance;
    if (line_.empty()) continue;
    // The last column stays free: writing it makes some terminals wrap.
    print_to_standard_error("\r\033[K" + shorten(line_, standard_error_width() - 1));
    shown_ = true;
  }
}

void ProgressLine::erase() {
  if (shown_) print_to_standard_error("\r\033[K");
  shown_ = false;
}

}  // namespace skid::commands
