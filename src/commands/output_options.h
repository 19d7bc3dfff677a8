// The form of text and the amount of messages.
#pragma once

#include "src/commands/terminal.h"
#include "src/support/names.h"

#include <functional>
#include <string>
#include <string_view>

namespace skid::output {
struct Page;
}  // namespace skid::output

namespace skid::commands {

enum class Format { text, json, csv };
SKID_NAMES(Format, "text", "json", "csv")
enum class Coloring { by_terminal, always, never };
SKID_NAMES(Coloring, "auto", "always", "never")

/// The form of text and the amount of messages, as given by the options of a command.
struct OutputOptions {
  Format format = Format::text;
  Coloring color = Coloring::by_terminal;
  bool ascii = false;
  bool no_pager = false;
  bool quiet = false;
  bool verbose = false;
  bool details = false;
  bool no_progress = false;  ///< the output itself shows the progress

  /// Prints a line that states what was done, escaped, on standard output unless --quiet is given.
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

/// Prints text that is laid out for the width, color and character set of standard output, unless
/// options override them; in at least 60 columns. On a terminal it goes through a pager.
void print_text(const OutputOptions& options,
                const std::function<std::string(const output::Page&)>& text);
/// Prints `things` in the format of --format, as `json`, `csv` or `text` converts them. `csv`:
/// nullptr for a command without this format.
template <typename Csv, typename... Things>
void print_as(const OutputOptions& options, auto json, Csv csv, auto text,
              const Things&... things) {
  if constexpr (!std::is_null_pointer_v<Csv>) {
    if (options.format == Format::csv) return print(csv(things...));
  }
  if (options.format == Format::json) return print(json(things...));
  print_text(options, [&](const output::Page& page) { return text(things..., page); });
}

}  // namespace skid::commands
