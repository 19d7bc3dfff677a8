// What a figure shows, how it looks, and the files that it is written to.
#pragma once

#include "plots/figure_kind.h"
#include "src/support/names.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace skid::plots {

/// The output of a figure; either may be empty.
struct FigureFiles {
  std::filesystem::path plot;    ///< .png, .svg or .pdf
  std::filesystem::path script;  ///< for gnuplot, with another extension
};

/// Whether the levels of an event have a panel each or share one as outlines.
enum class Arrangement { panels, overlaid };
SKID_NAMES(Arrangement, "panels", "overlaid")

/// As many rows of panels fit on a page of paper.
inline constexpr std::size_t kMostPanelRows = 8;

struct FigureOptions {
  FigureFiles files = {};       ///< not used by svg_of()
  Kind kind = Kind::histogram;  ///< kind of a figure of measurements
  /// Arrangement of histograms; nullopt: panels, or overlaid where there would be more than
  /// kMostPanelRows below each other.
  std::optional<Arrangement> arrangement = {};
  bool logarithmic = false;    ///< true for a logarithmic axis of samples in histograms
  bool caption = true;         ///< true for a title, machines and numbers of samples
  std::string title = {};      ///< empty: the title of the kind
  std::string id_prefix = {};  ///< beginning of the ids of svg_of(), to be unique in a page
  std::string font = {};       ///< family of the font; empty: sans serif
  std::optional<double> font_points = {};
  /// The size in pixels of 1/96 inch; nullopt: as large as the content needs.
  std::optional<double> width = {}, height = {};
  std::filesystem::path settings = {};   ///< file of gnuplot commands, run after style.gp
  std::vector<std::string> events = {};  ///< the only events that are shown; empty: all
  std::vector<int> levels = {};          ///< the only levels that are shown; empty: all
};

/// Throws ValueError if an extension is not one of those of FigureFiles.
void check_figure_files(const FigureFiles& files);

}  // namespace skid::plots
