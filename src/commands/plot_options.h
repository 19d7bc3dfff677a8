// Options of figures and of pages with figures. Variables must live as long as the command.
#pragma once

#include "plots/figure_kind.h"
#include "plots/figure_options.h"
#include "src/commands/commands.h"
#include "src/support/error.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::commandline {
struct Option;
}  // namespace skid::commandline

namespace skid::commands {

/// The values of the options of a figure, and of a page with figures; empty: not given.
struct PlotOptions {
  std::string html, size, font;
  std::optional<plots::Kind> kind;
  bool no_caption = false;
  plots::FigureOptions figure;  ///< the others
};

/// Returns --plot, --plot-script and the options for the look of a figure. `figure`: its name in
/// their descriptions, "a figure".
std::vector<Option> figure_options(PlotOptions& options, std::string_view figure);

/// Returns --html, with the variable for its file.
Option html_option(std::string& file);

/// Returns the figure_options() and those of figures of measurements: --kind, --plot-style, --log,
/// --event, --precise, --html.
std::vector<Option> plot_options(PlotOptions& options, plots::Kind default_kind);

/// Returns the figure to draw; nullopt if neither file is named. Throws UsageError for options that
/// require a figure or another kind, for file names with a wrong suffix, for an invalid size, and
/// as check_output_files() does for the files of figure and page. `inputs`: as given.
std::optional<plots::FigureOptions> figure_of(const PlotOptions& options, plots::Kind default_kind,
                                              const std::vector<std::string>& inputs);

/// Calls `draw`. Its error is printed where `status` is a result of --fail-on, which stays the
/// command's, and thrown elsewhere.
void draw_beside(ExitStatus status, const std::function<void()>& draw);

}  // namespace skid::commands
