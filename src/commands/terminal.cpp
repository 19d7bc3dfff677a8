#include "src/commands/terminal.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::commands {
namespace {

constexpr unsigned kNarrowest = 40;
constexpr unsigned kWidest = 200;  // wider tables are harder to read, not easier
constexpr unsigned kUnknown = 100;

}  // namespace

bool standard_output_takes_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && ::isatty(STDOUT_FILENO) == 1;
}

bool standard_output_is_file() {
  struct stat status {};
  return ::fstat(STDOUT_FILENO, &status) == 0 && S_ISREG(status.st_mode);
}

unsigned standard_output_width() {
  if (const char* columns = std::getenv("COLUMNS")) {
    const std::string_view text = columns;
    unsigned width = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), width);
    if (result.ec == std::errc{} && result.ptr == text.data() + text.size()) {
      return std::clamp(width, kNarrowest, kWidest);
    }
  }
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::clamp<unsigned>(size.ws_col, kNarrowest, kWidest);
  }
  return kUnknown;
}

bool locale_takes_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale = value;
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;
}

}  // namespace skid::commands
