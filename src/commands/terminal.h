// Standard output and error: writing to them, and the properties of the terminal.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace skid::commands {

/// Returns whether standard output is a regular file. A pipe is none: it may lead to a pager on the
/// same terminal.
bool standard_output_is_file();

/// Returns the columns of the terminal, or COLUMNS of the environment, at least 40; 100 if neither
/// is known.
unsigned standard_output_width();

/// Collects text and writes it to standard output. A full disk is an Error. If the reader has
/// exited (EPIPE, as with `| head`), the output ends without a message.
class StandardOutput {
 public:
  /// `paged`: on a terminal the first write starts the pager, PAGER or less, as git does. Messages
  /// wait for its end.
  explicit StandardOutput(bool paged = false) : paged_(paged) {}
  /// Text still to be written; append to it.
  std::string& text() noexcept { return text_; }
  /// Writes the text. Returns false if the reader has exited. Throws Error if it cannot be written.
  bool flush();
  /// Does so if the buffer is full.
  bool flush_if_full();
  /// Does so, and waits for the pager to end.
  bool finish() {
    flush();
    pager_.reset();
    return !closed_;
  }

 private:
  void start_pager();
  /// Waits for the pager to end, restores the handling of Ctrl-C, and prints the messages that
  /// waited for it.
  struct EndPager {
    void (*on_interrupt)(int);
    void operator()(std::FILE* pager) const noexcept;
  };

  std::string text_;
  bool paged_;  ///< no pager was tried yet
  std::unique_ptr<std::FILE, EndPager> pager_;
  bool closed_ = false;
};

/// Writes one text to standard output. `paged`: as for StandardOutput.
void print(std::string_view text, bool paged = false);

/// Prints "skidscan: MESSAGE" on standard error with control characters escaped: as one line, or
/// wrapped at the width of a terminal.
void print_error(std::string_view message);

}  // namespace skid::commands
