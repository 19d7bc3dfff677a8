// The file of a figure: what its name asks for, and how gnuplot is to write it.
#pragma once

#include "plots/gnuplot_session.h"

#include <filesystem>

namespace skid::plots {

/// Throws UsageError when the name does not end in .png, .svg or .pdf.
void check_plot_file(const std::filesystem::path& file);

/// For a figure of so many pixels; in PDF a pixel is 1/96 inch.
Terminal terminal_for(const std::filesystem::path& file, int width, int height);

}  // namespace skid::plots
