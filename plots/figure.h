// Draws figures of measurements, comparisons and audits.
#pragma once

#include "plots/machines.h"

#include <string>
#include <vector>

namespace skid::analysis {
struct Comparison;
struct Measurement;
}  // namespace skid::analysis

namespace skid::audit {
struct Audit;
}  // namespace skid::audit

namespace skid::plots {

struct FigureOptions;

// draw_figure() draws measurements, the sides of a comparison, or audits into the files that
// `options` name, each complete or not at all. A script draws the same figure in the directory
// where gnuplot is started, into a file with the name of the plot, else with its own name and .png.
//
// It throws ValueError as check_figure_files() does, for events and levels that nothing was
// measured at, and if a kind needs what no measurement has (bias, delay). It throws Error if
// gnuplot, which only the plot needs, is missing (naming the package) or fails, if there is nothing
// to draw, if the figure would be too large for an image, and if a file cannot be written.

/// Draws measurements into files (see above).
void draw_figure(const std::vector<analysis::Measurement>& measurements,
                 const FigureOptions& options);
/// Draws the sides of a comparison as a forest into files (see above). `inputs` are their names.
void draw_figure(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                 const FigureOptions& options);
/// Draws audits into files (see above).
void draw_figure(const std::vector<audit::Audit>& audits, const FigureOptions& options);

/// Returns the figure that draw_figure() draws of measurements as SVG, an element for a page. It
/// has no scripts and no external references; page.css has its colours for dark pages. `machines`
/// have the letters of the whole report, and all of them are drawn. Its <title> is
/// `options.title`, or names kind, event and CPU, and ids begin with `options.id_prefix`. Throws as
/// draw_figure() does.
std::string svg_of(const Machines& machines, const FigureOptions& options);
/// Returns the figure that draw_figure() draws of a comparison as SVG, an element for a page.
std::string svg_of(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                   const FigureOptions& options);

}  // namespace skid::plots
