// The file of a figure: what its name asks for, and how gnuplot is to write it.
#pragma once

#include "plots/characters.h"
#include "plots/gnuplot_session.h"

#include <filesystem>
#include <string>

namespace skid::plots {

/// A figure before it is drawn.
struct Drawing {
  int width = 0, height = 0;  ///< pixels
  std::string commands;       ///< to gnuplot, with their data, but for terminal and output
};

/// Where a figure goes; either may be empty.
struct FigureFiles {
  std::filesystem::path plot;    ///< .png, .svg or .pdf
  std::filesystem::path script;  ///< for gnuplot, with another ending
};

/// Throws UsageError when the name does not end in .png, .svg or .pdf.
void check_plot_file(const std::filesystem::path& file);

/// Throws UsageError where either name is not what it is to be.
void check_figure_files(const FigureFiles& files);

/// An SVG's are those of whoever looks at it. A script without a figure draws a PNG.
Fonts fonts_of(const FigureFiles& files);

/// Writes the files that are named, each in whole or not at all. Throws Error when gnuplot, which
/// only the figure takes, is missing (naming the package) or fails, and when a file cannot be
/// written.
void write_figure(const Drawing& drawing, const FigureFiles& files);

/// A script that draws `drawing` where gnuplot is started, into a file named as `output` without
/// its directories, and with other characters for apostrophes and control characters.
std::string script_of(const Drawing& drawing, const std::filesystem::path& output);

/// For a figure of so many pixels; in PDF a pixel is 1/96 inch.
Terminal terminal_for(const std::filesystem::path& file, int width, int height);

}  // namespace skid::plots
