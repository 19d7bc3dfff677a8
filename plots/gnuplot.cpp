#include "plots/gnuplot.h"

#include "plots/layout.h"
#include "src/output/escape.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/support/temporary_directory.h"

#include <algorithm>
#include <iomanip>
#include <ios>
#include <sstream>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

namespace fs = std::filesystem;
using gnuplotio::Gnuplot;

/// Larger files would not be figures.
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30;

bool is_plot_file(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".png" || extension == ".svg" || extension == ".pdf";
}

/// gnuplot's terminal for a file, with a font whose points have the same number of pixels in each.
std::string terminal_for(const fs::path& file, const Figure& figure) {
  const std::string extension = file.extension().string();
  if (extension == ".pdf") {
    return fmt::format("pdfcairo noenhanced size {:.4f}in,{:.4f}in font 'Sans,10' fontscale 1",
                       figure.width / 96.0, figure.height / 96.0);
  }
  return fmt::format("{} noenhanced size {},{} font 'Sans,10'{} background rgb '#ffffff'",
                     extension == ".svg" ? "svg" : "pngcairo", figure.width, figure.height,
                     extension == ".svg" ? " fontscale 1.33" : "");
}

std::string style_of(const LineStyle& style) {
  std::string text = fmt::format("lw {} lc rgb '{}'", style.width, hex_of(style.color));
  if (style.dashes.empty()) return text + " dt 1";
  // gnuplot multiplies dashes by the width, and draws a unit of them as a third of a pixel.
  std::vector<std::string> dashes;
  for (const double pixels : style.dashes) {
    dashes.push_back(fmt::format("{:.2f}", pixels * 3 / style.width));
  }
  return text + fmt::format(" dt ({})", fmt::join(dashes, ","));
}

std::string style_of(const Fill& fill) {
  if (fill.pattern == 0)
    return fmt::format("fc rgb '{}' fs solid 1.0 noborder", hex_of(fill.color));
  return fmt::format("fc rgb '{0}' fs pattern {1} border lc rgb '{0}'", hex_of(fill.color),
                     fill.pattern);
}

const char* name_of(Align align) {
  return align == Align::left ? "left" : align == Align::right ? "right" : "center";
}

void send_margins(Gnuplot& gnuplot, const Figure& figure, const Area& area) {
  const auto x = [&](int pixels) { return static_cast<double>(pixels) / figure.width; };
  const auto y = [&](int pixels) { return 1.0 - static_cast<double>(pixels) / figure.height; };
  gnuplot << fmt::format(
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
      "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\n",
      x(area.left), x(area.left + area.width), y(area.top), y(area.top + area.height));
}

/// Texts and swatches: a plot over the whole figure, whose coordinates are pixels from the upper
/// left corner.
void send_texts(Gnuplot& gnuplot, const Figure& figure) {
  send_margins(gnuplot, figure, {0, 0, figure.width, figure.height});
  gnuplot << fmt::format("set xrange [0:{}]\nset yrange [{}:0]\nunset border\nunset tics\n",
                         figure.width, figure.height);
  for (const Swatch& swatch : figure.swatches) {
    const auto& [left, top, width, height] = swatch.area;
    if (const auto* line = std::get_if<LineStyle>(&swatch.look)) {
      gnuplot << fmt::format("set arrow from {},{} to {},{} nohead {} front\n", left,
                             top + height / 2, left + width, top + height / 2, style_of(*line));
    } else {
      gnuplot << fmt::format("set object rectangle from {},{} to {},{} {} front\n", left, top,
                             left + width, top + height, style_of(std::get<Fill>(swatch.look)));
    }
  }
  for (const PlacedText& text : figure.texts) {
    gnuplot << fmt::format("set label {} at {},{} left font ',{}' tc rgb '{}' noenhanced front\n",
                           gnuplot_string(text.text), text.x, text.y, text.points,
                           hex_of(text.color));
  }
  gnuplot << "plot -1 notitle\nunset label\nunset object\nunset arrow\n";
}

void send_axis(Gnuplot& gnuplot, char name, const Axis& axis) {
  gnuplot << fmt::format("set {}range [{:.10g}:{:.10g}]\n", name, axis.low, axis.high);
  if (axis.logarithmic) gnuplot << fmt::format("set logscale {}\n", name);
  if (axis.tics.empty()) {
    gnuplot << fmt::format("unset {}tics\n", name);
  } else {
    std::vector<std::string> tics;
    for (const Tic& tic : axis.tics) {
      // A label is a format of the number.
      std::string label;
      for (const char c : tic.label) label.append(c == '%' ? 2 : 1, c);
      tics.push_back(fmt::format("{} {:.10g}", gnuplot_string(label), tic.at));
    }
    gnuplot << fmt::format("set {}tics nomirror out scale 0.5 font ',8' tc rgb '{}' ({})\n", name,
                           hex_of(Color::black), fmt::join(tics, ", "));
  }
  if (axis.grid) gnuplot << fmt::format("set grid {}tics lt 1 lc rgb '#E4E4E4'\n", name);
  gnuplot << fmt::format("set {}label {} font ',9' offset {}\n", name, gnuplot_string(axis.label),
                         name == 'x' ? "0,0.5" : "0.5,0");
}

/// Centre, sides, bottom and top of each box, as `with boxxyerror` expects them.
void send_boxes(Gnuplot& gnuplot, const Boxes& boxes) {
  std::vector<std::tuple<double, double, double, double, double, double>> data;
  for (const Box& box : boxes.boxes) {
    data.emplace_back((box.left + box.right) / 2, (box.bottom + box.top) / 2, box.left, box.right,
                      std::min(box.bottom, box.top), std::max(box.bottom, box.top));
  }
  gnuplot.send1d(data);
}

void send_points(Gnuplot& gnuplot, const Points& points) {
  std::vector<std::tuple<double, double, double, double>> data;
  for (const Point& point : points.points) {
    data.emplace_back(point.x, point.y, point.low, point.high);
  }
  gnuplot.send1d(data);
}

std::string style_of(const Points& points) {
  const std::string color{hex_of(points.color)};
  if (points.shape == Shape::cross) {
    return fmt::format("using 1:2 with points pt 2 ps 0.5 lw 1 lc rgb '{}'", color);
  }
  return fmt::format("using 1:2:3:4 with {}errorbars pt {} ps 0.9 lw 1.5 lc rgb '{}'",
                     points.upright ? 'y' : 'x', points.shape == Shape::disc ? 7 : 6, color);
}

void send_panel(Gnuplot& gnuplot, const Figure& figure, const Panel& panel) {
  send_margins(gnuplot, figure, panel.area);
  gnuplot << "unset logscale\nunset grid\n";
  send_axis(gnuplot, 'x', panel.x);
  send_axis(gnuplot, 'y', panel.y);
  // Rows have their texts instead of an axis.
  gnuplot << fmt::format("set border {} lc rgb '{}'\n", panel.rows.empty() ? 3 : 1,
                         hex_of(Color::grey));
  for (const Rule& rule : panel.rules) {
    gnuplot << fmt::format("set arrow from {:.10g},{:.10g} to {:.10g},{:.10g} nohead {} {}\n",
                           rule.x1, rule.y1, rule.x2, rule.y2, rule.on_top ? "front" : "back",
                           style_of(rule.style));
  }
  for (const Note& note : panel.notes) {
    gnuplot << fmt::format("set label {} at {:.10g},{:.10g} {} font ',8' tc rgb '{}' front\n",
                           gnuplot_string(note.text), note.x, note.y, name_of(note.align),
                           hex_of(note.color));
  }
  std::vector<std::string> plots;
  for (const Boxes& boxes : panel.boxes) {
    if (boxes.boxes.empty()) continue;
    plots.push_back(
        fmt::format("'-' using 1:2:3:4:5:6 with boxxyerror {} notitle", style_of(boxes.fill)));
  }
  for (const Curve& curve : panel.curves) {
    plots.push_back(fmt::format("'-' using 1:2 with lines {} notitle", style_of(curve.style)));
  }
  for (const Points& points : panel.points) {
    plots.push_back(fmt::format("'-' {} notitle", style_of(points)));
  }
  // A plot of nothing draws the axes, too.
  if (plots.empty()) plots.emplace_back("-1e9 notitle");
  gnuplot << fmt::format("plot {}\n", fmt::join(plots, ", "));
  for (const Boxes& boxes : panel.boxes) {
    if (!boxes.boxes.empty()) send_boxes(gnuplot, boxes);
  }
  for (const Curve& curve : panel.curves) gnuplot.send1d(curve.points);
  for (const Points& points : panel.points) send_points(gnuplot, points);
  gnuplot << "unset label\nunset arrow\n";
}

/// Writes `script`, which draws `figure` into a file called `output` where gnuplot is started.
void write_script(const Figure& figure, const fs::path& output, const fs::path& script) {
  Gnuplot gnuplot(">" + script.string());
  // As people write numbers, in as many digits as any pixel needs.
  gnuplot << std::defaultfloat << std::setprecision(12);
  // The comments contain no name: a backslash at its end would continue them. The output is never
  // only a name: gnuplot runs one that begins with "|".
  gnuplot
      << "# A figure of skidscan with its data. gnuplot draws it into the output below, in the\n"
         "# directory where it is started. For another format change terminal and output\n"
         "# together: pngcairo (.png) and svg (.svg) count the size in pixels, pdfcairo (.pdf)\n"
         "# in inches. rgb is a colour, lw the width of a line, font ',9' a size in points.\n"
         "set encoding utf8\n"
      << "set terminal " << terminal_for(output, figure) << "\nset output "
      << gnuplot_string("./" + output.filename().string()) << "\nunset key\nset multiplot\n";
  send_texts(gnuplot, figure);
  for (const Block& block : figure.blocks) {
    for (const Panel& panel : block.panels) send_panel(gnuplot, figure, panel);
  }
  gnuplot << "unset multiplot\nunset output\n";
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
std::string image_of(const Figure& figure, const fs::path& plot, const TemporaryDirectory& work) {
  if (!find_program("gnuplot")) {
    throw Error("gnuplot: not found in PATH; install the package gnuplot-nox");
  }
  const fs::path output = "figure" + plot.extension().string();
  write_script(figure, output, work.path() / "figure.gp");
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
std::string tag_for_page(std::string tag, const std::string& id_prefix) {
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

/// gnuplot's `svg` for a page: see svg_of().
std::string for_page(std::string_view svg, std::string_view title, const std::string& id_prefix) {
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
    page += part.front() == '<' ? tag_for_page(part, id_prefix) : part;
    svg.remove_prefix(part.size());
  }
  return page;
}

}  // namespace

std::string svg_of(Figure& figure, std::string_view title, std::string_view id_prefix) {
  lay_out(figure, Fonts::of_viewers);
  return for_page(image_of(figure, "page.svg", TemporaryDirectory()), title,
                  std::string(id_prefix));
}

void check_figure_files(const FigureFiles& files) {
  if (!files.plot.empty() && !is_plot_file(files.plot)) {
    throw UsageError(fmt::format("{}: not the name of a figure; expected .png, .svg or .pdf",
                                 files.plot.string()));
  }
  if (is_plot_file(files.script)) {
    throw UsageError(
        fmt::format("{}: is the name of a figure; expected that of a script, as in "
                    "skid.gp; --plot names the figure",
                    files.script.string()));
  }
}

void write_figure(Figure& figure, const FigureFiles& files) {
  check_figure_files(files);
  // An SVG is shown with the fonts of its viewers. A script without a plot draws a PNG.
  lay_out(figure, files.plot.extension() == ".svg" ? Fonts::of_viewers : Fonts::of_drawers);
  const TemporaryDirectory work;
  if (!files.script.empty()) {
    const fs::path output =
        files.plot.empty() ? fs::path(files.script).replace_extension(".png") : files.plot;
    write_script(figure, output, work.path() / "script.gp");
    write_file_atomically(files.script, read_file(work.path() / "script.gp", kLargestFile));
  }
  if (!files.plot.empty()) write_file_atomically(files.plot, image_of(figure, files.plot, work));
}

std::string gnuplot_string(std::string_view text) {
  std::string result = "'";
  for (const char character : drawable(text, Fonts::of_viewers)) {
    if (character == '\'') {
      result += "\u2019";
    } else if (character == '>' && result.ends_with("]]")) {
      result += "\\x3e";
    } else {
      result += character;
    }
  }
  return result + '\'';
}

}  // namespace skid::plots
