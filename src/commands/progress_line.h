// Progress of long operations on a terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace skid::commands {

/// "reading 12/40 NAME": one line on standard error, shown after a delay, and
/// erased before other output and at the end. A separate thread writes it, because a single step
/// may be long.
class ProgressLine {
 public:
  /// Shows nothing unless `on` (`suits_standard_error`), nor before `delay` has passed.
  explicit ProgressLine(bool on, std::chrono::milliseconds delay = std::chrono::seconds(1));
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ProgressLine(ProgressLine&&) = delete;
  ProgressLine& operator=(ProgressLine&&) = delete;
  ~ProgressLine();

  /// Starts a step: "reading" or "writing" `name`, number `number` of `total`. Of concurrent steps
  /// the last one is shown.
  void begins(const char* what, const std::string& name, std::size_t number, std::size_t total);

  /// Erases the line, which stays away as long as the result lives.
  std::unique_lock<std::mutex> pause();

  /// Whether standard error is a terminal on which a line may come and go.
  static bool suits_standard_error(bool quiet);

 private:
  void show_until_end(std::chrono::milliseconds delay);
  void erase();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string line_;  ///< empty: nothing was begun
  bool shown_ = false, ended_ = false;
  std::thread thread_;
};

}  // namespace skid::commands
