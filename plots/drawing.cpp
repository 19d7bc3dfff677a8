#include "plots/drawing.h"

#include "analysis/wording.h"
#include "plots/figure_options.h"
#include "plots/gnuplot_text.h"
#include "src/support/error.h"
#include "src/support/escape.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/support/staged_file.h"
#include "src/support/temporary_directory.h"
#include "src/support/text.h"
#include "style.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

namespace fs = std::filesystem;

/// The largest file that is read. Larger ones are not figures.
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30;
/// The longest side of a figure in pixels. Cairo's images have at most 32,767.
constexpr double kLongestSide = 32'000;

constexpr double kTitleScale = 1.3;
constexpr double kLineHeight = 1.6;  // height of a line in pixels, for a font of one point
/// Lines of text below the plots: those of tics and space, and that of the label of the lowest
/// ones.
constexpr double kTicLines = 2, kLabelLines = 1.2;

/// The places of the parts of a figure, in lines of text, which gnuplot calls characters.
struct Layout {
  std::string title = {};  ///< title and head, divided into lines that fit
  std::string head = {};
  std::size_t key_rows = 0;  ///< rows of the legend
  std::size_t rows = 1;      ///< rows of panels
  double keys = 0.3;         ///< distance from the top of the figure to the legend
  double top = 0;            ///< distance from the top of the figure to the uppermost plots
  double spacing = 0;        ///< distance between a plot and the one below
  double height = 0;         ///< height of the figure in pixels
};

double lines_in(std::string_view text) {
  return static_cast<double>(std::count(text.begin(), text.end(), '\n')) + (text.empty() ? 0 : 1);
}

std::size_t key_rows(const Figure& figure) {
  constexpr std::size_t kSample = 11;  // characters
  const std::size_t all = figure.keys.size();
  if (all == 0) return 0;
  std::size_t longest = 1;
  for (const Key& key : figure.keys) longest = std::max(longest, key.name.size() + kSample);
  const double needed = figure.paper.width_of(static_cast<double>(longest));
  const auto columns =
      std::clamp<std::size_t>(static_cast<std::size_t>(figure.paper.width / needed), 1, all);
  return (all + columns - 1) / columns;
}

/// Divides a text into lines of some pixels, of which it keeps the first `most`.
std::vector<std::string> lines_of(const std::string& text, const Paper& paper, double pixels,
                                  std::size_t most) {
  const double characters = std::max(8.0, pixels / paper.width_of(1));
  auto lines = wrap(drawable(text, paper.all_fonts), static_cast<std::size_t>(characters));
  if (lines.size() > most) {
    lines.resize(most);
    lines.back() += " …";
  }
  return lines;
}

/// Divides the title into lines that fit. What made the samples is never cut.
std::string title_of(const Figure& figure) {
  constexpr std::size_t kMostLines = 3;
  const Paper& paper = figure.paper;
  if (!paper.caption) return {};
  const double room = (paper.width - 2 * paper.points) / kTitleScale;
  auto lines = lines_of(figure.title, paper, room, kMostLines);
  // The paper may have no room for it beside the rest.
  if (!lines.empty() && lines.back().ends_with(" …")) {
    lines.push_back(figure.mark.substr(std::min(figure.mark.size(), figure.mark.find('('))));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

/// Divides the paragraphs of the head into lines that fit.
std::string head_of(const Figure& figure) {
  constexpr std::size_t kMostLines = 12;  // the most lines of a paragraph
  const Paper& paper = figure.paper;
  std::vector<std::string> paragraphs, all;
  if (paper.caption) paragraphs = figure.head;
  // A page states it in its text.
  if (!paper.caption && !paper.on_page) paragraphs.push_back(figure.mark);
  if (paper.caption || paper.on_page) paragraphs.push_back(figure.note);
  for (const std::string& paragraph : paragraphs) {
    if (paragraph.empty()) continue;
    const auto lines = lines_of(paragraph, paper, paper.width - 2 * paper.points, kMostLines);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return fmt::format("{}", fmt::join(all, "\n"));
}

/// Returns the height of the title and of the space below it, in lines.
double title_lines(const Layout& layout) {
  constexpr double kFirst = 2;
  return layout.title.empty() ? 0 : kFirst + kTitleScale * (lines_in(layout.title) - 1);
}

Layout layout_of(const Figure& figure) {
  Layout layout{.key_rows = key_rows(figure),
                .rows = (figure.panels.size() + figure.columns - 1) / figure.columns};
  layout.title = title_of(figure);
  layout.head = head_of(figure);
  layout.keys += title_lines(layout) + lines_in(layout.head);
  double first = 0, lower = 0;  // lines of the titles in the first row and in lower ones
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    double& most = i < figure.columns ? first : lower;
    most = std::max(most, lines_in(figure.panels[i].title));
  }
  layout.top = layout.keys + first + (layout.keys > 0 || layout.key_rows > 0 ? 1.2 : 0.4);
  if (layout.key_rows > 0) layout.top += static_cast<double>(layout.key_rows) + 0.8;
  layout.spacing = lower + 1 + kTicLines;
  const auto rows = static_cast<double>(layout.rows);
  const auto height_with = [&](double plot_lines) {
    return kLineHeight * figure.paper.points *
           (layout.top + layout.spacing * (rows - 1) + plot_lines * rows + kTicLines + kLabelLines);
  };
  layout.height = figure.paper.height.value_or(height_with(figure.plot_lines));
  constexpr double kNarrowest = 12;  // the least width of a plot in characters
  const double needed =
      static_cast<double>(figure.columns) *
      figure.paper.width_of(figure.left_margin + figure.right_margin + kNarrowest);
  if (figure.paper.width < needed) {
    throw Error(
        "figure: {:.0f} px of width are too few for {} of plots with their texts, which need "
        "{:.0f} px (1/96 inch); use a larger size, another kind, or fewer machines",
        figure.paper.width, analysis::counted(figure.columns, "column"), std::ceil(needed));
  }
  const double least = height_with(std::min(figure.least_lines, figure.plot_lines));
  if (layout.height < least) {
    throw Error(
        "figure: {:.0f} px of height are too few for {} of plots with their texts, which need "
        "{:.0f} px (1/96 inch); give no height, use another kind, no caption, or fewer events "
        "and levels",
        layout.height, analysis::counted(layout.rows, "row"), std::ceil(least));
  }
  return layout;
}

/// Returns gnuplot's terminal for a file. A font has as many pixels in each terminal.
std::string terminal_of(const fs::path& file, const Paper& paper, double height) {
  const std::string extension = file.extension().string();
  const std::string font = gnuplot_string(fmt::format("{},{:g}", paper.font, paper.points), true);
  if (extension == ".pdf") {
    return fmt::format("pdfcairo noenhanced size {:.4g}in,{:.4g}in font {} fontscale 0.75",
                       paper.width / 96, height / 96, font);
  }
  const auto size = fmt::format("noenhanced size {:.0f},{:.0f} font {}", paper.width, height, font);
  if (extension == ".page") return fmt::format("svg dynamic {} fontscale 1.33", size);
  if (extension == ".svg") {
    return fmt::format("svg fixed {} fontscale 1.33 background rgb 'white'", size);
  }
  return fmt::format("pngcairo {} background rgb 'white'", size);
}

/// Sends title, head, the labels of the axes and the legend, which belong to the first panel.
void send_head(gnuplotio::Gnuplot& gnuplot, const Figure& figure, const Layout& layout) {
  const Paper& paper = figure.paper;
  if (!layout.title.empty()) {
    gnuplot << fmt::format("set label {} at character 1,screen 1 offset 0,-1.2 left font ',{:g}'\n",
                           paper.quoted(layout.title), std::round(paper.points * kTitleScale));
  }
  if (!layout.head.empty()) {
    gnuplot << fmt::format("set label {} at character 1,screen 1 offset 0,{} left\n",
                           paper.quoted(layout.head),
                           layout.title.empty() ? -0.8 : -0.6 - title_lines(layout));
  }
  gnuplot << fmt::format(
      "set label {} at screen 0.5,character 0.7 offset {},0 center\n"
      "set label {} at character 1.5,screen 0.5 offset 0,{:.1f} center rotate\n"
      "set key at character 1,screen {:.4f} left top vertical Left reverse samplen 3 width 2 "
      "maxrows {}\n",
      paper.quoted(figure.x_label, paper.width), (figure.left_margin - figure.right_margin) / 2,
      paper.quoted(figure.y_label, layout.height), (kTicLines + kLabelLines - layout.top) / 2,
      1 - layout.keys * kLineHeight * paper.points / layout.height,
      std::max<std::size_t>(1, layout.key_rows));
}

/// Sends the data of all panels as $d1, $d2, …, before the commands that plot them.
void send_data(gnuplotio::Gnuplot& gnuplot, const Figure& figure) {
  std::size_t number = 0;
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      gnuplot << fmt::format("$d{} << e\n", ++number);
      gnuplot.send1d(series.rows);
    }
  }
}

void send_panels(gnuplotio::Gnuplot& gnuplot, const Figure& figure) {
  // A title is as long as there is room on both sides of its middle.
  const double room = figure.paper.width / static_cast<double>(figure.columns) -
                      figure.paper.width_of(figure.left_margin - figure.right_margin);
  std::size_t number = 0;
  std::vector<Key> keys = figure.keys;
  std::vector<std::string> before;
  for (const Panel& panel : figure.panels) {
    if (panel.marks.empty() && panel.series.empty()) {
      gnuplot << "set multiplot next\n";
      continue;
    }
    gnuplot << (&panel == &figure.panels.front() ? "" : "unset label; unset arrow; unset key; ")
            << fmt::format("set title {}\n", figure.paper.quoted(panel.title, room));
    before.resize(panel.commands.size());
    for (std::size_t i = 0; i < panel.commands.size(); ++i) {
      if (before[i] != panel.commands[i]) gnuplot << (before[i] = panel.commands[i]) << '\n';
    }
    for (const std::string& mark : panel.marks) gnuplot << mark << '\n';
    // A plot without data draws the axes, too.
    std::vector<std::string> plots;
    if (panel.series.empty()) plots.emplace_back("-1e9 notitle");
    for (const Series& series : panel.series) {
      const std::size_t data = series.plot.find("$d") + 2;
      plots.push_back(series.plot + " notitle");
      plots.back().insert(data, std::to_string(++number));
    }
    for (const Key& key : std::exchange(keys, {})) {
      plots.push_back(
          fmt::format("keyentry {} title {}", key.style, figure.paper.quoted(key.name)));
    }
    gnuplot << fmt::format("plot {}\n", fmt::join(plots, ", \\\n     "));
  }
}

/// Writes the gnuplot program of `figure`, which draws it into `output` in the directory where
/// gnuplot is started.
void write_program(const Figure& figure, const FigureOptions& options, const fs::path& output,
                   const fs::path& file) {
  const Layout layout = layout_of(figure);
  if (layout.height > kLongestSide || figure.paper.width > kLongestSide) {
    throw Error("figure: {} panels do not fit into an image; draw fewer measurements",
                figure.panels.size());
  }
  gnuplotio::Gnuplot gnuplot(">" + file.string());
  // Numbers are written without a fixed number of decimals, with more digits than any pixel needs.
  gnuplot << std::defaultfloat << std::setprecision(12);
  // The comments contain no name: a backslash at its end would continue them. The output is never
  // only a name: gnuplot runs one that begins with "|".
  gnuplot << "# A figure of skidscan. For another format change terminal and output together.\n"
          << "set terminal " << terminal_of(output, figure.paper, layout.height) << "\nset output "
          << gnuplot_string("./" + output.filename().string(), true) << '\n';
  send_data(gnuplot, figure);
  gnuplot << kStyle;
  if (!options.settings.empty()) gnuplot << read_file(options.settings, kLargestFile) << '\n';
  for (const std::string& command : figure.commands) gnuplot << command << '\n';
  gnuplot << fmt::format(
      "set multiplot layout {},{} margins char {},{},{},{:.1f} spacing char {},char {:.1f}\n",
      layout.rows, figure.columns, figure.left_margin, figure.right_margin, kTicLines + kLabelLines,
      layout.top, figure.left_margin - 2, layout.spacing);
  send_head(gnuplot, figure, layout);
  send_panels(gnuplot, figure);
  gnuplot << "unset multiplot\n";
}

/// Returns the last line, in which gnuplot reports what is wrong: `"figure.gp" line 7: …`.
std::string message_of(std::string_view standard_error) {
  constexpr std::size_t kLongest = 200;
  const std::size_t end = standard_error.find_last_not_of(" \t\n") + 1;
  const std::string_view text = standard_error.substr(0, end);
  return escape_for_terminal(text.substr(text.rfind('\n') + 1).substr(0, kLongest));
}

/// Returns the content of the image that gnuplot draws for a file with the extension of `plot`.
std::string image_of(const Figure& figure, const FigureOptions& options, const fs::path& plot) {
  if (!find_program("gnuplot")) {
    throw Error("gnuplot: not found in PATH; install the package gnuplot-nox");
  }
  const TemporaryDirectory work;
  const fs::path output = "figure" + plot.extension().string();
  write_program(figure, options, output, work.path() / "figure.gp");
  // -d: the user's own gnuplotrc must not change figures.
  const Completed drawn = run_program({"gnuplot", "-d", "figure.gp"}, work.path());
  if (drawn.err.find("unknown or ambiguous terminal") != std::string::npos) {
    throw Error("gnuplot: cannot draw {} files; install the package gnuplot-nox",
                plot.extension().string());
  }
  const std::string message = message_of(drawn.err);
  const std::string reason = message.empty() ? "" : ": " + message;
  if (!drawn.code.success()) throw Error("gnuplot: {}{}", describe(drawn.code), reason);
  if (!fs::exists(work.path() / output)) throw Error("gnuplot: drew nothing" + reason);
  return read_file(work.path() / output, kLargestFile);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// Returns a tag of gnuplot's SVG with ids that begin with `id_prefix`, and without style
/// attributes, which the content security policy of a page blocks.
std::string own_tag(std::string tag, const std::string& id_prefix) {
  if (tag.starts_with("<g id=")) return "<g>";
  if (tag.find(" style='") != std::string::npos) {
    replace_all(tag, " style='", " ");
    replace_all(tag, ":", "='");
    replace_all(tag, ";", "'");
  }
  for (const std::string reference : {" id='", "href='#", "url(#"}) {
    replace_all(tag, reference, reference + id_prefix);
  }
  return tag;
}

/// Converts gnuplot's `svg` to an element with a title and unique ids (see svg_of() of figure.h).
std::string svg_element(std::string_view svg, std::string title, const std::string& id_prefix) {
  replace_all(title, "&", "&amp;");
  replace_all(title, "<", "&lt;");
  svg.remove_prefix(std::min(svg.find("<svg"), svg.size()));
  std::string page;
  while (!svg.empty()) {
    if (svg.starts_with("<title>")) {  // gnuplot's titles: the names of its terminal and plots
      svg.remove_prefix(std::min(svg.find("</title>"), svg.size() - 8) + 8);
      continue;
    }
    const std::size_t end = svg.front() == '<' ? svg.find('>') + 1 : svg.find('<');
    const std::string part(svg.substr(0, end));
    if (part.starts_with("<desc>")) page += "<title>" + title + "</title>";
    page += part.front() == '<' ? own_tag(part, id_prefix) : part;
    svg.remove_prefix(part.size());
  }
  return page;
}

}  // namespace

std::int64_t round_up_nicely(double value) {
  // Counts and offsets are far below the largest number of 64 bits.
  std::int64_t decade = 1;
  while (static_cast<double>(10 * decade) < value) decade *= 10;
  for (const std::int64_t step : {1, 2, 5}) {
    if (static_cast<double>(step * decade) >= value) return step * decade;
  }
  return 10 * decade;
}

double Paper::width_of(double characters) const {
  constexpr double kWide = 0.78;  // mean width of a character in pixels, for a font of one point
  return kWide * points * characters;
}

std::string Paper::fitted(std::string_view text, double pixels) const {
  constexpr double kCapital = 1, kOther = 0.77;  // as in width_of()
  const std::string drawn = drawable(text, all_fonts);
  const auto capitals = std::count_if(drawn.begin(), drawn.end(),
                                      [](unsigned char c) { return std::isupper(c) != 0; });
  const auto all = static_cast<double>(display_width(drawn));
  const double needed =
      points * (kOther * all + (kCapital - kOther) * static_cast<double>(capitals));
  if (needed <= pixels) return drawn;
  return shorten(drawn, static_cast<std::size_t>(std::max(4.0, all * pixels / needed)));
}

std::string Paper::quoted(std::string_view text, double pixels) const {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.push_back(gnuplot_string(fitted(take_until('\n', text), pixels), all_fonts));
  }
  return lines.empty() ? "''" : fmt::format("{}", fmt::join(lines, ".\"\\n\"."));
}

Paper paper_of(const FigureOptions& options, double width) {
  Paper paper{.width = options.width.value_or(width), .height = options.height};
  paper.points = paper.is_narrow() ? 7 : 9;
  paper.on_page = !options.id_prefix.empty();
  paper.all_fonts = paper.on_page || options.files.plot.extension() == ".svg";
  paper.font = paper.all_fonts ? "sans-serif" : "Sans";
  paper.caption = options.caption;
  if (!options.font.empty()) paper.font = options.font;
  if (options.font_points) paper.points = *options.font_points;
  return paper;
}

void write_figure(const Figure& figure, const FigureOptions& options) {
  check_figure_files(options.files);
  if (std::ranges::all_of(figure.panels, &std::vector<Series>::empty, &Panel::series)) {
    throw Error(
        "figure: nothing to draw: no sample has an offset from a trigger; the kind 'breakdown' "
        "shows where the samples are");
  }
  const fs::path& plot = options.files.plot;
  const fs::path& script = options.files.script;
  if (!script.empty()) {
    const TemporaryDirectory work;
    const fs::path output = plot.empty() ? fs::path(script).replace_extension(".png") : plot;
    write_program(figure, options, output, work.path() / "script.gp");
    write_file_atomically(script, read_file(work.path() / "script.gp", kLargestFile));
  }
  if (plot.empty()) return;
  std::string image = image_of(figure, options, plot);
  if (plot.extension() == ".svg") {
    image = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n" + svg_element(image, figure.title, "");
  }
  write_file_atomically(plot, image);
}

std::string svg_of(const Figure& figure, const FigureOptions& options) {
  return svg_element(image_of(figure, options, "figure.page"), figure.title, options.id_prefix);
}

}  // namespace skid::plots
