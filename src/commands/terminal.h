// Standard output and error: writing to them, progress, and the properties of the terminal.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace skid::output {
struct Page;
}  // namespace skid::output

namespace skid::commands {

/// Whether standard output is a regular file: a pipe may lead to a pager on the same terminal.
bool standard_output_is_file();

/// Columns of the terminal, or of COLUMNS, at least 40; 100 if neither is known.
unsigned standard_output_width();

/// Collects text and writes it to standard output. A full disk is an Error; a reader that went away
/// (EPIPE, as with `| head`) ends the output in silence.
class StandardOutput {
 public:
  /// `paged`: on a terminal the first write starts the pager, PAGER or less, as git does.
  explicit StandardOutput(bool paged = false) : paged_(paged) {}
  /// Text still to be written; append to it.
  std::string& text() noexcept { return text_; }
  /// Writes when the buffer is full. False if the reader is gone.
  bool flush_if_full();
  /// Writes what is left and waits for the pager to end. Throws Error when it cannot be written.
  void finish() {
    flush();
    pager_.reset();
  }

 private:
  void flush();
  void start_pager();
  /// Waits for the end of the pager and takes Ctrl-C again.
  struct EndPager {
    void (*on_interrupt)(int);
    void operator()(std::FILE* pager) const noexcept;
  };

  std::string text_;
  bool paged_;
  std::unique_ptr<std::FILE, EndPager> pager_;
  bool closed_ = false;
};

/// Writes one text and is done.
void print(std::string_view text, bool paged = false);

/// "skidscan: MESSAGE" on standard error, control characters escaped: one line, but on a terminal
/// wrapped at its width.
void print_error(std::string_view message);

/// The form of text and the amount of messages, as the options of a command state them.
struct OutputOptions {
  std::string format = "text";
  std::string color = "auto";
  bool ascii = false;
  bool no_pager = false;
  bool quiet = false;
  bool verbose = false;
  bool details = false;

  /// Prints a line, escaped, of what was done, on standard output unless --quiet is given.
  void result(std::string_view line) const;
  /// Prints a message that is no error, unless --quiet is given.
  void note(std::string_view message) const {
    if (!quiet) print_error(message);
  }
  /// Prints a step with its reason, if --verbose is given.
  void explain(std::string_view message) const {
    if (verbose) print_error(message);
  }
};

/// Prints text that is laid out for the properties of standard output, unless options override
/// them, in at least 60 columns. It goes through a pager on a terminal.
void print_text(const OutputOptions& options,
                const std::function<std::string(const output::Page&)>& text);
/// Prints what `json`, `csv` or `text` makes of `things`, by the word of --format. `csv`: nullptr
/// for a command that has no such format.
template <typename Csv, typename... Things>
void print_as(const OutputOptions& options, auto json, Csv csv, auto text,
              const Things&... things) {
  if constexpr (!std::is_null_pointer_v<Csv>) {
    if (options.format == "csv") return print(csv(things...));
  }
  if (options.format == "json") return print(json(things...));
  print_text(options, [&](const output::Page& page) { return text(things..., page); });
}

/// "reading 12/40 NAME": one line on standard error, shown after a delay, and erased before other
/// output and at the end. A separate thread writes it, because a single step may be long.
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
  std::unique_lock<std::mutex> pause() {
    std::unique_lock lock(mutex_);
    erase();
    return lock;
  }

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
