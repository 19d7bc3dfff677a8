// Figures as scripts of gnuplot, and as images that gnuplot draws from them.
#pragma once

#include "plots/model.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace skid::plots {

/// The output of a figure; either may be empty.
struct FigureFiles {
  std::filesystem::path plot;    ///< .png, .svg or .pdf
  std::filesystem::path script;  ///< for gnuplot, with another extension
};

/// Throws UsageError where an extension is not one of these.
void check_figure_files(const FigureFiles& files);

/// Lays `figure` out for the fonts of its format and writes the files that are named, each complete
/// or not at all. A script draws the same figure where gnuplot is started, into a file with the
/// name of the plot, else with its own name and .png. Throws UsageError like check_figure_files(),
/// and Error when gnuplot, which only the plot needs, is missing (naming the package) or fails,
/// when the figure would be too large for an image, and when a file cannot be written.
void write_figure(Figure& figure, const FigureFiles& files);

/// The figure as SVG for a page, without an XML declaration. Texts, axes and black parts have the
/// colour of the page's text (currentColor). `title`: its <title>, not escaped. `id_prefix`: at the
/// beginning of every id, so that several figures can be in one page. Throws Error as
/// write_figure() does.
std::string svg_of(Figure& figure, std::string_view title, std::string_view id_prefix);

/// `text` as a gnuplot string, drawable() with any fonts. Single quotes keep gnuplot from
/// expanding backquotes, macros and escapes (gnuplot manual, "Quotation marks"). An apostrophe
/// becomes U+2019: gnuplot 5.4 reads a doubled quote at the beginning of a string as an empty
/// string, and the rest as further tokens. Of "]]>", which XML does not allow in text and gnuplot
/// copies into SVG, the last character becomes \x3e.
std::string gnuplot_string(std::string_view text);

}  // namespace skid::plots
