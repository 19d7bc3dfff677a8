// The kinds of figures, and how one is drawn.
#pragma once

#include "src/output/report/grouping.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::analysis {
struct Comparison;
struct Measurement;
}  // namespace skid::analysis

namespace skid::audit {
struct Audit;
}  // namespace skid::audit

namespace skid::plots {

using Machines = std::vector<output::MachineGroup>;

enum class Kind {
  histogram,
  cdf,
  breakdown,
  forest,
  bias,
  delay,
};
inline constexpr std::array kKinds{Kind::histogram, Kind::cdf,  Kind::breakdown,
                                   Kind::forest,    Kind::bias, Kind::delay};

/// "histogram", "cdf", …
std::string_view name_of(Kind kind);
std::optional<Kind> kind_from(std::string_view name);

/// The output of a figure; either may be empty.
struct FigureFiles {
  std::filesystem::path plot;    ///< .png, .svg or .pdf
  std::filesystem::path script;  ///< for gnuplot, with another extension
};

/// Whether the levels of an event have a panel each or share one as outlines.
enum class Arrangement { panels, overlaid };

struct FigureOptions {
  FigureFiles files = {};                         ///< not of svg_of()
  Kind kind = Kind::histogram;                    ///< of measurements
  Arrangement arrangement = Arrangement::panels;  ///< of histograms
  bool logarithmic = false;                       ///< the samples' axis of histograms
  bool caption = true;                            ///< with a title, machines and numbers of samples
  std::string title = {};                         ///< empty: of the kind
  std::string id_prefix = {};  ///< of svg_of(): at the beginning of ids, to be unique in a page
  std::string font = {};       ///< its family; empty: sans serif
  std::optional<double> font_points = {};
  /// In pixels of 1/96 inch; nullopt: as large as the content needs.
  std::optional<double> width = {}, height = {};
  std::filesystem::path settings = {};   ///< commands of gnuplot; they run after style.gp
  std::vector<std::string> events = {};  ///< of measurements: only these; empty: all
  std::vector<int> levels = {};          ///< the same
};

/// Throws UsageError where an extension is not one of those of FigureFiles.
void check_figure_files(const FigureFiles& files);

/// Draw measurements, the sides of a comparison as a forest (`inputs`: their names), and audits
/// into the files that `options` name, each complete or not at all. A script draws the same figure
/// where gnuplot is started, into a file with the name of the plot, else with its own name and
/// .png. Throw UsageError as check_figure_files() does, for events and levels that nothing was
/// measured at, and where a kind needs what no measurement has (bias, delay); Error when gnuplot,
/// which only the plot needs, is missing (naming the package) or fails, when there is nothing to
/// draw, when the figure would be too large for an image, and when a file cannot be written.
void draw_figure(const std::vector<analysis::Measurement>& measurements,
                 const FigureOptions& options);
void draw_figure(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                 const FigureOptions& options);
void draw_figure(const std::vector<audit::Audit>& audits, const FigureOptions& options);

/// The same figures as SVG, an element for a page (`machines`: with the letters of the whole
/// report; nothing of them is left out): `options.title` is its <title>, ids begin with
/// `options.id_prefix`. Without scripts and external references; page.css has its colours in the
/// dark. Throw as draw_figure() does.
std::string svg_of(const Machines& machines, const FigureOptions& options);
std::string svg_of(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                   const FigureOptions& options);

}  // namespace skid::plots
