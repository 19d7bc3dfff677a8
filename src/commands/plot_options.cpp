#include "src/commands/plot_options.h"

#include "src/support/error.h"

#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace skid::commands {
namespace {

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  names.reserve(plots::kKinds.size());
  for (const plots::Kind kind : plots::kKinds) names.emplace_back(plots::name_of(kind));
  return names;
}

}  // namespace

void add_plot_options(CLI::App& command, PlotOptions& options, plots::Kind default_kind) {
  command.add_option("--plot", options.file, "write a figure to FILE.png, .svg or .pdf")
      ->type_name("FILE");
  command
      .add_option("--plot-script", options.script,
                  "write the figure to FILE as a gnuplot script that holds its data")
      ->type_name("FILE");
  command
      .add_option("--kind", options.kind,
                  fmt::format("what the figure shows (default: {})", plots::name_of(default_kind)))
      ->type_name("KIND")
      ->check(CLI::IsMember(kind_names()));
  command
      .add_option("--plot-style", options.style,
                  "of a histogram: levels as panels (the default), or overlaid")
      ->type_name("STYLE")
      ->check(CLI::IsMember({"panels", "overlaid"}));
  command.add_flag("--log", options.logarithmic, "of a histogram: samples on a logarithmic axis");
}

std::optional<plots::FigureOptions> figure_options(const PlotOptions& options,
                                                   plots::Kind default_kind) {
  plots::FigureOptions figure;
  figure.kind = plots::kind_from(options.kind).value_or(default_kind);
  const auto refuse_unless = [](bool holds, std::string_view option, std::string_view remedy) {
    if (!holds) throw UsageError(fmt::format("{}: {}", option, remedy));
  };
  const bool draws = !options.file.empty() || !options.script.empty();
  const auto needs_figure = [&](bool given, std::string_view option) {
    refuse_unless(draws || !given, option, "draws nothing; add --plot FILE or --plot-script FILE");
  };
  needs_figure(!options.kind.empty(), "--kind");
  needs_figure(!options.style.empty(), "--plot-style");
  needs_figure(options.logarithmic, "--log");
  if (!draws) return std::nullopt;

  const auto needs_histogram = [&](bool given, std::string_view option) {
    refuse_unless(figure.kind == plots::Kind::histogram || !given, option,
                  fmt::format("found with --kind {}, allowed with histogram; leave it out or add "
                              "--kind histogram",
                              plots::name_of(figure.kind)));
  };
  needs_histogram(!options.style.empty(), "--plot-style");
  needs_histogram(options.logarithmic, "--log");
  figure.files = {options.file, options.script};
  plots::check_figure_files(figure.files);
  if (options.style == "overlaid") figure.arrangement = plots::Arrangement::overlaid;
  figure.logarithmic = options.logarithmic;
  return figure;
}

}  // namespace skid::commands
