#include "src/commands/output_options.h"

#include "src/commands/standard_output.h"
#include "src/commands/terminal.h"

#include <cstddef>

#include <CLI/CLI.hpp>

namespace skid::commands {
namespace {

bool shows_unicode(const OutputOptions& options) {
  return !options.ascii && locale_takes_unicode();
}

bool shows_color(const OutputOptions& options) {
  if (options.color == "auto") return standard_output_takes_color();
  return options.color == "always";
}

}  // namespace

void add_output_options(CLI::App& command, OutputOptions& options) {
  command
      .add_option("--color", options.color,
                  "colours in text: auto is on a terminal, unless NO_COLOR is set (default: auto)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command.add_flag("--ascii", options.ascii,
                   "bars and lines of ASCII, as where the locale is not UTF-8");
  auto* quiet =
      command.add_flag("-q,--quiet", options.quiet, "say nothing but errors, and print the result");
  command
      .add_flag("-v,--verbose", options.verbose,
                "say what is done and why: files, times, what was decided")
      ->excludes(quiet);
}

output::Page page_for(const OutputOptions& options) {
  return {.color = shows_color(options),
          .unicode = shows_unicode(options),
          .width = standard_output_width()};
}

output::TextStyle style_for(const OutputOptions& options) {
  return {.color = shows_color(options),
          .width = standard_output_width(),
          .unicode = shows_unicode(options)};
}

void print_page(const OutputOptions& options, std::string text) {
  constexpr std::string_view kCutShort = "…";
  if (!shows_unicode(options)) {
    // As wide as what it stands for.
    for (std::size_t at = 0; (at = text.find(kCutShort, at)) != std::string::npos;) {
      text.replace(at, kCutShort.size(), "~");
    }
  }
  print(text);
}

}  // namespace skid::commands
