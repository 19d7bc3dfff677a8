// The files that a command writes in addition to its standard output.
#pragma once

#include "src/output/html/document.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::output {
struct MachineGroup;
struct Page;
}  // namespace skid::output

namespace skid::commands {

/// What to do where the run directory of -o exists.
inline constexpr std::string_view kRunExists = "replace it with --force, or name another with -o";

struct OutputFile {
  std::string_view option;  ///< "--plot"
  std::string name;         ///< as given; empty without the option
};

/// Checks names of files before anything is read or written. Throws UsageError if a name is "-", a
/// directory, one of `inputs`, a file of a run among them, or the same file as another option's.
/// `may_replace_reports`: inputs that are reports may be replaced.
void check_output_files(const std::vector<OutputFile>& files,
                        const std::vector<std::string>& inputs, bool may_replace_reports = false);

/// Returns how a page was made, so that it can be repeated: this program's command line, and those
/// that recorded `measurements`, each once.
output::html::Origin page_origin(const std::vector<analysis::Measurement>& measurements);

/// Draws a figure of output::Page::draw as SVG, whose ids begin with `prefix`. Throws Error.
using DrawSvg = std::function<std::string(std::string_view kind, const output::MachineGroup* of,
                                          const std::string& prefix)>;

/// Writes `text` for a page as a document with that title into the file of --html; does nothing
/// where `file` is empty. The page states how `measurements` were recorded. Where a figure cannot
/// be drawn, it states why, once for each reason. Throws Error if the file cannot be written.
void write_page(const std::string& file, std::string_view title,
                const std::vector<analysis::Measurement>& measurements,
                const std::function<std::string(const output::Page&)>& text,
                const DrawSvg& draw = {});

}  // namespace skid::commands
