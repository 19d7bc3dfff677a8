#include "src/support/standard_error.h"

#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace skid {

void print_to_standard_error(std::string_view text) {
  // Not fmt::print, which throws.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

unsigned standard_error_width() {
  constexpr unsigned kUsual = 80;
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

}  // namespace skid
