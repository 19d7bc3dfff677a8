// What every command is told about its output: colours, characters, and how much it says.
#pragma once

#include "src/output/page.h"
#include "src/output/report/report.h"

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace skid::commands {

struct OutputOptions {
  std::string color = "auto";
  bool ascii = false;
  bool quiet = false;
  bool verbose = false;
};

/// --color, --ascii, --quiet, --verbose. `options` must live as long as `command`.
void add_output_options(CLI::App& command, OutputOptions& options);

/// The terminal behind standard output, as far as the options do not say otherwise.
output::Page page_for(const OutputOptions& options);
output::TextStyle style_for(const OutputOptions& options);

/// Prints what was laid out for such a page: where only ASCII is shown, the mark of names that were
/// cut short, too.
void print_page(const OutputOptions& options, std::string text);

}  // namespace skid::commands
