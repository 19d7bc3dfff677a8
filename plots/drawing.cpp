#include "plots/drawing.h"

#include "plots/gnuplot_text.h"
#include "src/output/escape.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/support/temporary_directory.h"
#include "style.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iomanip>
#include <ios>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

namespace fs = std::filesystem;

/// Larger files would not be figures.
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30;
/// Cairo's images end at 32,767 pixels.
constexpr double kLongestSide = 32'000;

/// Lines of text of the parts of a figure, which gnuplot places in units of a character.
struct TextLines {
  double head = 0;          ///< title and paragraphs
  double keys = 0;          ///< below the head
  double titles = 0;        ///< of the panel with the most
  double lower_titles = 0;  ///< the same, below the first row
};
constexpr int kLeftMargin = 11, kRightMargin = 2;  // characters
constexpr double kLinesOfTics = 1.6, kLinesOfLabel = 1.4, kGap = 0.4, kLinesOfCount = 2,
                 kTitleScale = 1.3;

double lines_in(std::string_view text) {
  return text.empty() ? 0 : 1.0 + static_cast<double>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t key_rows(const Figure& figure) {
  constexpr std::size_t kSample = 7;  // characters
  const std::size_t all = figure.keys.size();
  if (figure.long_keys || all == 0) return all;
  std::size_t longest = 1;
  for (const Key& key : figure.keys) longest = std::max(longest, key.name.size() + kSample);
  const std::size_t columns =
      std::clamp<std::size_t>(figure.paper.characters_in(figure.paper.width) / longest, 1, all);
  return (all + columns - 1) / columns;
}

/// The paragraphs in lines that fit.
std::string head_of(const Figure& figure) {
  constexpr std::size_t kMostLines = 12;  // of a paragraph
  std::vector<std::string> all;
  for (const std::string& paragraph : figure.head) {
    const std::size_t width =
        figure.paper.characters_in(figure.paper.width - 2 * figure.paper.points);
    auto lines =
        output::wrap(drawable(paragraph, figure.paper.all_fonts), std::max<std::size_t>(width, 8));
    if (lines.size() > kMostLines) {
      lines.resize(kMostLines);
      lines.back() += " …";
    }
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return fmt::format("{}", fmt::join(all, "\n"));
}

TextLines text_lines_of(const Figure& figure) {
  TextLines lines;
  if (figure.paper.caption) lines.head = kTitleScale * 1.2 + lines_in(head_of(figure)) + 0.4;
  if (!figure.keys.empty()) lines.keys = static_cast<double>(key_rows(figure)) + 1.2;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    if (!figure.panels[i]) continue;
    const double own = lines_in(figure.panels[i]->title) + 1;
    lines.titles = std::max(lines.titles, own);
    if (i >= figure.columns) lines.lower_titles = std::max(lines.lower_titles, own);
  }
  return lines;
}

std::size_t rows_of(const Figure& figure) {
  return (figure.panels.size() + figure.columns - 1) / figure.columns;
}

/// Lines of all but the plots.
double lines_around(const Figure& figure) {
  const TextLines lines = text_lines_of(figure);
  return lines.head + lines.keys + lines.titles + kLinesOfLabel +
         (lines.lower_titles + kLinesOfTics + kGap) * static_cast<double>(rows_of(figure));
}

double height_of(const Figure& figure) {
  const double plots = figure.plot_lines * static_cast<double>(rows_of(figure));
  return figure.paper.height.value_or((lines_around(figure) + plots) * figure.paper.line_height());
}

/// Lines of text that a plot is high.
double plot_lines_of(const Figure& figure) {
  const double all = height_of(figure) / figure.paper.line_height();
  return std::max(1.0, (all - lines_around(figure)) / static_cast<double>(rows_of(figure)));
}

/// Fonts of a size in points have as many pixels in each.
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

void send_head(gnuplotio::Gnuplot& gnuplot, const Figure& figure, double height) {
  const TextLines lines = text_lines_of(figure);
  if (figure.paper.caption) {
    gnuplot << fmt::format(
        "set label 1 {} at character 1,screen 1 offset 0,-1.2 left font ',{:g}'\n",
        figure.paper.quoted(output::shorten(
            figure.title, figure.paper.characters_in(figure.paper.width / kTitleScale))),
        std::round(figure.paper.points * kTitleScale));
    if (!figure.head.empty()) {
      gnuplot << fmt::format("set label 2 {} at character 1,screen 1 offset 0,-2.6 left\n",
                             figure.paper.quoted(head_of(figure)));
    }
  }
  if (figure.keys.empty()) {
    gnuplot << "unset key\n";
    return;
  }
  gnuplot << fmt::format(
      "set key at character 1,screen {:.4f} left top vertical Left reverse samplen 1.5 maxrows "
      "{}\n",
      1 - (lines.head + 0.2) * figure.paper.line_height() / height, key_rows(figure));
}

/// The keys' entries, for the plot command of the first panel.
std::vector<std::string> entries_of(const Figure& figure) {
  std::vector<std::string> entries;
  const double room = figure.paper.width - 6 * figure.paper.points;
  for (const Key& key : figure.keys) {
    entries.push_back(fmt::format("keyentry {} title {}", key.style,
                                  figure.paper.quoted(figure.paper.fitted(key.name, room))));
  }
  return entries;
}

/// Numbers the data of all panels, before the commands that plot them.
void send_data(gnuplotio::Gnuplot& gnuplot, const Figure& figure) {
  std::size_t number = 0;
  for (const auto& panel : figure.panels) {
    if (!panel) continue;
    for (const Series& series : panel->series) {
      gnuplot << fmt::format("$d{} << e\n", ++number);
      gnuplot.send1d(series.rows);
    }
  }
}

/// The labels of the axes of the i-th panel: those of x in the lowest row, of y in the first
/// column.
std::string axis_labels(const Figure& figure, std::size_t i) {
  const auto& panels = figure.panels;
  bool is_lowest = true;
  for (std::size_t k = i + figure.columns; k < panels.size(); k += figure.columns) {
    is_lowest = is_lowest && !panels[k];
  }
  bool is_first = true;
  for (std::size_t k = i - i % figure.columns; k < i; ++k) is_first = is_first && !panels[k];
  const auto quoted = [&](const std::string& text) { return figure.paper.quoted(text); };
  // Below the middle of the plot, whose left margin is wider than the right one.
  const double room = figure.paper.width / static_cast<double>(figure.columns) -
                      figure.paper.width_of(kLeftMargin - kRightMargin);
  const std::string x_label =
      figure.paper.fitted(panels[i]->x_label.empty() ? figure.x_label : panels[i]->x_label, room);
  // Away from the tics: gnuplot estimates the width of "25%" too small.
  return fmt::format("set xlabel {}; set ylabel {} offset -0.6,0\n",
                     quoted(is_lowest ? x_label : ""), quoted(is_first ? figure.y_label : ""));
}

void send_panels(gnuplotio::Gnuplot& gnuplot, const Figure& figure) {
  std::size_t number = 0;
  const Panel* before = nullptr;
  std::string labels;
  for (std::size_t place = 0; place < figure.panels.size(); ++place) {
    const auto& panel = figure.panels[place];
    if (!panel) {
      gnuplot << "set multiplot next\n";
      continue;
    }
    gnuplot << fmt::format("set title {}\n", figure.paper.quoted(panel->title));
    if (std::string own = axis_labels(figure, place); own != labels) gnuplot << (labels = own);
    for (std::size_t i = 0; i < panel->commands.size(); ++i) {
      const std::string& command = panel->commands[i];
      if (before == nullptr || before->commands[i] != command) gnuplot << command << '\n';
    }
    if (panel->highest_count) {
      const double step = *panel->highest_count * kLinesOfCount / plot_lines_of(figure);
      gnuplot << fmt::format("set ytics {}\n", round_up_nicely(step));
    }
    for (const std::string& mark : panel->marks) gnuplot << mark << '\n';
    std::vector<std::string> plots;
    for (const Series& series : panel->series) {
      plots.push_back(fmt::format("$d{} {} notitle", ++number, series.style));
    }
    // A plot of nothing draws the axes, too.
    if (plots.empty()) plots.emplace_back("-1e9 notitle");
    if (before == nullptr) {
      for (std::string& entry : entries_of(figure)) plots.push_back(std::move(entry));
    }
    gnuplot << fmt::format("plot {}\n", fmt::join(plots, ", \\\n     "));
    if (figure.panels.size() > 1) gnuplot << "unset label; unset arrow; unset key\n";
    before = &*panel;
  }
}

/// Writes the gnuplot program of `figure`, which draws it into `output` in the directory where
/// gnuplot is started.
void write_program(const Figure& figure, const FigureOptions& options, const fs::path& output,
                   const fs::path& file) {
  const double height = height_of(figure);
  if (height > kLongestSide || figure.paper.width > kLongestSide) {
    throw Error(fmt::format("figure: {} panels do not fit into an image; draw fewer measurements",
                            figure.panels.size()));
  }
  gnuplotio::Gnuplot gnuplot(">" + file.string());
  // As people write numbers, in as many digits as any pixel needs.
  gnuplot << std::defaultfloat << std::setprecision(12);
  // The comments contain no name: a backslash at its end would continue them. The output is never
  // only a name: gnuplot runs one that begins with "|".
  gnuplot << "# A figure of skidscan. For another format change terminal and output together.\n"
          << "set terminal " << terminal_of(output, figure.paper, height) << "\nset output "
          << gnuplot_string("./" + output.filename().string(), true) << '\n';
  send_data(gnuplot, figure);
  gnuplot << kStyle;
  if (!options.settings.empty()) gnuplot << read_file(options.settings, kLargestFile) << '\n';
  gnuplot << fmt::format("set lmargin {}\n", kLeftMargin);
  for (const std::string& command : figure.commands) gnuplot << command << '\n';
  send_head(gnuplot, figure, height);
  const TextLines lines = text_lines_of(figure);
  const double top = lines.head + lines.keys + lines.titles + 0.3;
  if (figure.panels.size() == 1) {
    gnuplot << fmt::format("set tmargin {:.1f}\n", top);
    send_panels(gnuplot, figure);
  } else {
    gnuplot << fmt::format(
        "set multiplot layout {},{} margins char {},{},{:.1f},{:.1f} spacing char {},char {:.1f}\n",
        rows_of(figure), figure.columns, kLeftMargin, kRightMargin,
        kLinesOfTics + kLinesOfLabel + 0.2, top, kLeftMargin - kRightMargin,
        lines.lower_titles + kLinesOfTics + kGap);
    send_panels(gnuplot, figure);
    gnuplot << "unset multiplot\n";
  }
}

/// gnuplot prints the command, marks a column, and then `"figure.gp" line 7: what is wrong`.
std::string message_of(const std::string& standard_error) {
  std::istringstream lines(standard_error);
  std::string message;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] == '^') continue;
    message = line.substr(begin);
    if (message.find("\" line ") != std::string::npos) break;
  }
  constexpr std::size_t kLongest = 200;
  return output::escape_for_terminal(std::string_view(message).substr(0, kLongest));
}

/// The content of the image that gnuplot draws for a file like `plot`.
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
    throw Error(fmt::format("gnuplot: cannot draw {} files; install the package gnuplot-nox",
                            plot.extension().string()));
  }
  const std::string message = message_of(drawn.err);
  const std::string reason = message.empty() ? "" : ": " + message;
  if (!drawn.code.success()) {
    throw Error(fmt::format("gnuplot: {}{}", describe(drawn.code), reason));
  }
  if (!fs::exists(work.path() / output)) throw Error("gnuplot: drew nothing" + reason);
  return read_file(work.path() / output, kLargestFile);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::string xml_text(std::string text) {
  replace_all(text, "&", "&amp;");
  replace_all(text, "<", "&lt;");
  return text;
}

/// The properties of a style attribute as attributes, which the policy of a page does not block.
void replace_style(std::string& tag) {
  constexpr std::string_view kBegin = " style='";
  const std::size_t begin = tag.find(kBegin);
  if (begin == std::string::npos) return;
  const std::size_t end = tag.find('\'', begin + kBegin.size());
  std::string properties = tag.substr(begin + kBegin.size(), end - begin - kBegin.size());
  replace_all(properties, ":", "='");
  replace_all(properties, ";", "'");
  tag.replace(begin, end - begin, ' ' + properties);
}

/// A tag of gnuplot's SVG with ids that begin with `id_prefix`, in the colour of the page's text
/// where it is black.
std::string own_tag(std::string tag, const std::string& id_prefix) {
  if (tag.starts_with("<g id=")) return "<g>";
  replace_style(tag);
  for (const std::string reference : {" id='", "href='#", "url(#"}) {
    replace_all(tag, reference, reference + id_prefix);
  }
  replace_all(tag, " color=\"black\"", "");
  for (const std::string black : {"black", "rgb(0,0,0)", "rgb(  0,   0,   0)", "#000000"}) {
    for (const std::string quote : {"'", "\""}) {
      replace_all(tag, '=' + quote + black + quote, '=' + quote + "currentColor" + quote);
    }
  }
  return tag;
}

/// gnuplot's `svg` as an element with a title and ids of its own: see svg_of() of figure.h.
std::string svg_element(std::string_view svg, std::string_view title,
                        const std::string& id_prefix) {
  svg.remove_prefix(std::min(svg.find("<svg"), svg.size()));
  std::string page;
  while (!svg.empty()) {
    if (svg.starts_with("<title>")) {  // of gnuplot: the names of its terminal and plots
      svg.remove_prefix(std::min(svg.find("</title>"), svg.size() - 8) + 8);
      continue;
    }
    const std::size_t end = svg.front() == '<' ? svg.find('>') + 1 : svg.find('<');
    const std::string part(svg.substr(0, end));
    if (part.starts_with("<desc>")) page += "<title>" + xml_text(std::string(title)) + "</title>";
    page += part.front() == '<' ? own_tag(part, id_prefix) : part;
    svg.remove_prefix(part.size());
  }
  return page;
}

}  // namespace

std::int64_t round_up_nicely(double value) {
  // Counts and offsets stay far below the largest decade.
  constexpr std::int64_t kLargest = 1'000'000'000'000'000'000;
  for (std::int64_t decade = 1; decade < kLargest; decade *= 10) {
    for (const std::int64_t step : {1, 2, 5}) {
      if (static_cast<double>(step * decade) >= value) return step * decade;
    }
  }
  return kLargest;
}

double Paper::width_of(double characters) const {
  constexpr double kWide = 0.78;  // of a proportional font, in pixels for a font of one point
  return kWide * points * characters;
}

std::size_t Paper::characters_in(double pixels) const {
  return static_cast<std::size_t>(std::max(4.0, pixels / width_of(1)));
}

std::string Paper::fitted(std::string_view text, double pixels) const {
  constexpr double kCapital = 0.95, kOther = 0.75;  // as in width_of()
  const std::string drawn = drawable(text, all_fonts);
  const auto capitals = std::count_if(drawn.begin(), drawn.end(),
                                      [](unsigned char c) { return std::isupper(c) != 0; });
  const auto all = static_cast<double>(output::display_width(drawn));
  const double needed =
      points * (kOther * all + (kCapital - kOther) * static_cast<double>(capitals));
  if (needed <= pixels) return drawn;
  return output::shorten(drawn, static_cast<std::size_t>(std::max(4.0, all * pixels / needed)));
}

std::string Paper::quoted(std::string_view text) const {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(gnuplot_string(text.substr(begin, end - begin), all_fonts));
    begin = end + 1;
  }
  return fmt::format("{}", fmt::join(lines, ".\"\\n\"."));
}

Paper paper_of(const FigureOptions& options, double width) {
  Paper paper{.width = options.width.value_or(width), .height = options.height};
  paper.points = paper.is_narrow() ? 7 : 9;
  paper.all_fonts = options.files.plot.extension() == ".svg";
  paper.font = paper.all_fonts ? "sans-serif" : "Sans";
  paper.caption = options.caption;
  if (!options.font.empty()) paper.font = options.font;
  if (options.font_points) paper.points = *options.font_points;
  return paper;
}

void write_figure(const Figure& figure, const FigureOptions& options) {
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
