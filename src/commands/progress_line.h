// One line on standard error that shows what is being read or written.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace skid::commands {

/// A line on standard error, "reading 12/40 NAME", shown after a delay, and erased before other
/// output and at the end. A separate thread writes it, because a single step may take long.
class ProgressLine {
 public:
  /// Shows nothing unless `on` (`suits_standard_error`), nor before `delay` has passed.
  explicit ProgressLine(bool on, std::chrono::milliseconds delay = std::chrono::seconds(1));
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ProgressLine(ProgressLine&&) = delete;
  ProgressLine& operator=(ProgressLine&&) = delete;
  ~ProgressLine();

  /// Starts a step: "reading" or "writing" (`what`) the file `name`, which is `number` of `total`.
  /// If several steps run at once, the one that started last is shown.
  void begins(const char* what, const std::string& name, std::size_t number, std::size_t total);

  /// Erases the line; it is not shown again before the returned lock is released.
  std::unique_lock<std::mutex> pause() {
    std::unique_lock lock(mutex_);
    erase();
    return lock;
  }

  /// Returns whether a line may be shown: standard error is a terminal, and not `quiet`.
  static bool suits_standard_error(bool quiet);

 private:
  void show_until_end(std::chrono::milliseconds delay);
  void erase();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string line_;  ///< empty: no step has started
  bool shown_ = false, ended_ = false;
  std::thread thread_;
};

}  // namespace skid::commands
