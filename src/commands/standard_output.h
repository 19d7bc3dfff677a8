// Standard output, buffered, with its errors seen.
#pragma once

#include <string>
#include <string_view>

namespace skid::commands {

/// Collects text and writes it to standard output. A full disk is an Error; a reader that went away
/// (EPIPE, as with `| head`) ends the output in silence.
class StandardOutput {
 public:
  /// Text still to be written; append to it.
  std::string& text() noexcept { return text_; }
  /// Writes when the buffer is full. False if the reader is gone.
  bool flush_if_full();
  /// Writes what is left. Throws Error when it cannot be written.
  void flush();

 private:
  std::string text_;
  bool closed_ = false;
};

/// Writes one text and is done.
void print(std::string_view text);

}  // namespace skid::commands
