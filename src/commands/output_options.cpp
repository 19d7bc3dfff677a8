#include "src/commands/output_options.h"

#include "src/commands/terminal.h"
#include "src/output/page.h"
#include "src/support/escape.h"
#include "src/support/standard_error.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

namespace skid::commands {

namespace {

/// Whether standard output is a terminal that is not dumb, and NO_COLOR is not set (no-color.org).
bool standard_output_takes_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && ::isatty(STDOUT_FILENO) == 1 &&
         !is_dumb_terminal();
}

/// Whether the locale (LC_ALL, LC_CTYPE, LANG) is UTF-8. True if none is set, as in most
/// containers, whose terminals support UTF-8.
bool locale_takes_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string locale = lower_case(value);
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return true;
}

}  // namespace

void OutputOptions::result(std::string_view line) const {
  if (!quiet) print(escape_for_terminal(line) + '\n');
}

void print_text(const OutputOptions& options,
                const std::function<std::string(const output::Page&)>& text_for) {
  constexpr unsigned kNarrowestText = 60;
  constexpr std::string_view kEllipsis = "…";
  const bool takes_color = options.color == Coloring::by_terminal
                               ? standard_output_takes_color()
                               : options.color == Coloring::always;
  const output::Page page{.color = takes_color,
                          .width = std::max(standard_output_width(), kNarrowestText),
                          .unicode = !options.ascii && locale_takes_unicode(),
                          .details = options.details};
  std::string text = text_for(page);
  if (!page.unicode) {
    // "~" is as wide as the ellipsis of shortened names.
    for (std::size_t at = 0; (at = text.find(kEllipsis, at)) != std::string::npos;) {
      text.replace(at, kEllipsis.size(), "~");
    }
  }
  print(text, !options.no_pager);
}

}  // namespace skid::commands
