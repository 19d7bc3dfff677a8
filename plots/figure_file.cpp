#include "plots/figure_file.h"

#include "src/support/error.h"
#include "src/support/file.h"

#include <fmt/format.h>
#include <gnuplot-iostream.h>

namespace skid::plots {
namespace {

bool is_plot_file(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".png" || extension == ".svg" || extension == ".pdf";
}

}  // namespace

void check_figure_files(const FigureFiles& files) {
  if (!files.plot.empty()) check_plot_file(files.plot);
  if (is_plot_file(files.script)) {
    throw UsageError(
        fmt::format("{}: found the name of a figure, allowed is one of a script, as "
                    "in skid.gp; --plot names the figure",
                    files.script.string()));
  }
}

Fonts fonts_of(const FigureFiles& files) {
  return files.plot.extension() == ".svg" ? Fonts::of_viewers : Fonts::of_drawers;
}

void write_figure(const Drawing& drawing, const FigureFiles& files) {
  check_figure_files(files);
  // First, because it takes no gnuplot.
  if (!files.script.empty()) {
    std::filesystem::path output = files.plot;
    if (output.empty()) output = std::filesystem::path(files.script).replace_extension(".png");
    write_file_atomically(files.script, script_of(drawing, output));
  }
  if (!files.plot.empty()) {
    const std::string figure =
        draw(terminal_for(files.plot, drawing.width, drawing.height),
             [&drawing](gnuplotio::Gnuplot& gnuplot) { gnuplot << drawing.commands; });
    write_file_atomically(files.plot, figure);
  }
}

std::string script_of(const Drawing& drawing, const std::filesystem::path& output) {
  const Terminal terminal = terminal_for(output, drawing.width, drawing.height);
  // Wherever gnuplot is started. Not the name alone: one that begins with "|" is a command to it.
  const std::string name = "./" + output.filename().string();
  // No name stands in the comments: a backslash at the end would carry them on.
  return fmt::format(
      "# A figure of skidscan with its data: gnuplot draws it when started with the name of this\n"
      "# file, into the output below. For another format change terminal and output together:\n"
      "# pngcairo (.png) and svg (.svg) count the size in pixels, pdfcairo (.pdf) in inches.\n"
      "# Colours stand behind \"rgb\", widths of lines behind \"lw\", fonts behind \"font\".\n"
      "set encoding utf8\n"
      "set terminal {} {}\n"
      "set output {}\n{}\nunset output\n",
      terminal.name, terminal.options, gnuplot_string(name), drawing.commands);
}

void check_plot_file(const std::filesystem::path& file) {
  if (is_plot_file(file)) return;
  const std::string extension = file.extension().string();
  throw UsageError(fmt::format("{}: cannot draw '{}'; allowed are .png, .svg and .pdf",
                               file.string(), extension));
}

Terminal terminal_for(const std::filesystem::path& file, int width, int height) {
  const std::string extension = file.extension().string();
  if (extension == ".png") {
    return {"pngcairo", fmt::format("noenhanced size {},{} font 'Sans,10' background rgb '#ffffff'",
                                    width, height)};
  }
  if (extension == ".svg") {
    return {
        "svg",
        fmt::format("noenhanced size {},{} font 'Sans,10' fontscale 1.33 background rgb '#ffffff'",
                    width, height)};
  }
  return {"pdfcairo", fmt::format("noenhanced size {:.4f}in,{:.4f}in font 'Sans,10' fontscale 1.0",
                                  width / 96.0, height / 96.0)};
}

}  // namespace skid::plots
