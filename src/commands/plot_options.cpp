#include "src/commands/plot_options.h"

#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/inputs.h"
#include "src/commands/output_files.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include <fmt/format.h>

namespace skid::commands {

namespace {

/// The name of a given option that only histograms can have; empty: none is given.
std::string option_of_histograms(const PlotOptions& options) {
  if (options.figure.arrangement) return "--plot-style";
  return options.figure.logarithmic ? "--log" : "";
}

/// The name of a given option that only figures can have; empty: none is given.
std::string option_of_figures(const PlotOptions& options) {
  const plots::FigureOptions& figure = options.figure;
  if (options.kind) return "--kind";
  if (!options.size.empty()) return "--size";
  if (!options.font.empty()) return "--font";
  if (options.no_caption) return "--no-caption";
  if (!figure.title.empty()) return "--title";
  if (!figure.settings.empty()) return "--plot-settings";
  if (!figure.events.empty()) return "--event";
  if (!figure.levels.empty()) return "--precise";
  return option_of_histograms(options);
}

/// Returns a length in pixels; nullopt if it is not valid for a figure.
std::optional<double> length_of(const std::string& number, std::string_view unit) {
  constexpr double kShortest = 50, kLongest = 32'000;
  const double scale = unit == "in" ? 96 : unit == "cm" ? 96 / 2.54 : 1;
  const double pixels = commandline::number_from<double>(number).value_or(0) * scale;
  return pixels >= kShortest && pixels <= kLongest ? std::optional(pixels) : std::nullopt;
}

/// Sets the size from "3.3in", "8cmx6cm" or "500x300px", where the width has the unit of the
/// height. Throws UsageError for a text that is no size.
void set_size(const std::string& text, plots::FigureOptions& figure) {
  static const std::regex kSize("([0-9.]+)(in|cm|px)?(x([0-9.]+)(in|cm|px)?)?");
  std::smatch parts;
  if (std::regex_match(text, parts, kSize)) {
    const std::string unit = parts[5];
    figure.width = length_of(parts[1], parts[2].matched ? parts[2].str() : unit);
    if (parts[3].matched) figure.height = length_of(parts[4], unit);
    if (figure.width && figure.height.has_value() == parts[3].matched) return;
  }
  throw UsageError(
      "--size {}: expected a width of 50 to 32000 px, optionally followed by x and a "
      "height, in in, cm or px, as in 3.3in or 8cmx6cm",
      text);
}

/// Sets the font from "Sans" or "Sans,9". Throws UsageError for an invalid size.
void set_font(const std::string& text, plots::FigureOptions& figure) {
  constexpr double kSmallest = 3, kLargest = 100;
  const std::size_t comma = std::min(text.rfind(','), text.size());
  figure.font = text.substr(0, comma);
  if (comma == text.size()) return;
  figure.font_points = commandline::number_from<double>(std::string_view(text).substr(comma + 1));
  if (!figure.font_points || *figure.font_points < kSmallest || *figure.font_points > kLargest) {
    throw UsageError("--font {}: expected points from 3 to 100 after the comma", text);
  }
}

}  // namespace

std::vector<Option> figure_options(PlotOptions& options, std::string_view figure) {
  return {
      {"--plot", Value::file("FILE", options.figure.files.plot),
       fmt::format("write {} to FILE.png, FILE.svg or FILE.pdf", figure)},
      {"--plot-script", Value::file("FILE", options.figure.files.script),
       "write the figure as a gnuplot script that contains its data"},
      {"--size", Value::text("WIDTH[xHEIGHT]", options.size),
       "size of the figure in in, cm or px (1/96 inch): 3.3in, 8cmx6cm (default: as large as its "
       "content needs)"},
      {"--title", Value::text("TITLE", options.figure.title),
       "title of the figure (default: that of its kind)"},
      {"--no-caption", Value::flag(options.no_caption),
       "without title, machines and numbers of samples, which a paper has in its caption"},
      {"--font", Value::text("FONT[,POINTS]", options.font),
       "font of the figure (default: Sans in 9 points, in 7 on less than 5 inches)"},
      {"--plot-settings", Value::file("FILE", options.figure.settings),
       "commands of gnuplot that change the look of figures; they run after the built-in ones"}};
}

Option html_option(std::string& file) {
  return {"--html", Value::file("FILE", file),
          "write a page for a browser: one file with figures and tables that loads nothing else"};
}

std::vector<Option> plot_options(PlotOptions& options, plots::Kind default_kind) {
  auto all = figure_options(options, "a figure");
  all.insert(
      all.end(),
      {{"--kind", Value::one_of("KIND", options.kind),
        fmt::format("kind of the figure (default: {})", name_of(default_kind))},
       {"--plot-style", Value::one_of("STYLE", options.figure.arrangement),
        fmt::format("for histograms: a panel per level, or all levels in one (default: panels, or "
                    "overlaid where panels would be more than {} below each other)",
                    plots::kMostPanelRows)},
       {"--log", Value::flag(options.figure.logarithmic),
        "for histograms: samples on a logarithmic axis"},
       {"-e,--event", split_events(options.figure.events),
        "events of the figure: as requested, without level, or by the vendor's name"},
       {"-p,--precise", level_list(options.figure.levels), "precise levels of the figure"},
       html_option(options.html)});
  return all;
}

std::optional<plots::FigureOptions> figure_of(const PlotOptions& options, plots::Kind default_kind,
                                              const std::vector<std::string>& inputs) {
  plots::FigureOptions figure = options.figure;
  const bool is_drawn = !figure.files.plot.empty() || !figure.files.script.empty();
  if (const std::string needless = option_of_figures(options); !is_drawn && !needless.empty()) {
    throw UsageError("{}: no figure is drawn; add --plot FILE or --plot-script FILE", needless);
  }
  figure.kind = options.kind.value_or(default_kind);
  figure.caption = !options.no_caption;
  const std::string of_histograms = option_of_histograms(options);
  if (!of_histograms.empty() && figure.kind != plots::Kind::histogram) {
    throw UsageError(
        "{}: is for histograms, the figure is of kind {}; leave it out or add --kind histogram",
        of_histograms, plots::name_of(figure.kind));
  }
  if (!options.size.empty()) set_size(options.size, figure);
  if (!options.font.empty()) set_font(options.font, figure);
  plots::check_figure_files(figure.files);
  if (is_drawn || !options.html.empty()) {
    check_output_files({{"--html", options.html},
                        {"--plot", figure.files.plot},
                        {"--plot-script", figure.files.script}},
                       inputs_or_default_run(inputs));
  }
  return is_drawn ? std::optional(figure) : std::nullopt;
}

void draw_beside(ExitStatus status, const std::function<void()>& draw) {
  try {
    draw();
  } catch (const Error& error) {
    if (status != ExitStatus::gate_failed && status != ExitStatus::nothing_judged) throw;
    print_error(error.what());
  }
}

}  // namespace skid::commands
