// The options of figures, the same in every command that draws.
#pragma once

#include "plots/figure.h"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace skid::commands {

/// As given; empty where an option was not.
struct PlotOptions {
  std::string file, script;
  std::string kind, style;
  bool logarithmic = false;
};

/// Declares --plot, --plot-script, --kind, --plot-style and --log. `options` must outlive the
/// command.
void add_plot_options(CLI::App& command, PlotOptions& options, plots::Kind default_kind);

/// What is to be drawn; nullopt where neither file is named. Throws UsageError for options that go
/// with no figure or not with its kind, and for names of files that are not what they are to be.
std::optional<plots::FigureOptions> figure_options(const PlotOptions& options,
                                                   plots::Kind default_kind);

}  // namespace skid::commands
