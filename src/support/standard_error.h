// Standard error and the terminal that it may be connected to.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace skid {

/// Writes text that is already escaped. Errors are ignored: they cannot be reported anywhere.
inline void print_to_standard_error(std::string_view text) {
  // Not fmt::print, which throws.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

/// Returns the columns of the terminal that standard error is connected to; 80 if not known.
inline unsigned standard_error_width() {
  constexpr unsigned kUsual = 80;
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return is_known ? size.ws_col : kUsual;
}

/// Whether TERM is "dumb": a terminal without colours and movements of the cursor.
inline bool is_dumb_terminal() {
  const char* const terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) == "dumb";
}

/// Whether standard error is a terminal on which a line can be erased and written again.
inline bool standard_error_can_be_erased() {
  return ::isatty(STDERR_FILENO) == 1 && !is_dumb_terminal();
}

}  // namespace skid
