// The kinds of figures, and how one is drawn.
#pragma once

#include "analysis/comparison.h"
#include "analysis/measurement.h"
#include "plots/gnuplot.h"
#include "plots/kinds.h"
#include "src/audit/audit.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::plots {

enum class Kind { histogram, cdf, breakdown, forest, bias, delay };
inline constexpr std::array kKinds{Kind::histogram, Kind::cdf,  Kind::breakdown,
                                   Kind::forest,    Kind::bias, Kind::delay};

/// "histogram", "cdf", …
std::string_view name_of(Kind kind);
std::optional<Kind> kind_from(std::string_view name);

struct FigureOptions {
  FigureFiles files = {};  ///< not of svg_of()
  Kind kind = Kind::histogram;
  Arrangement arrangement = Arrangement::panels;  ///< of histograms
  bool logarithmic = false;                       ///< the samples' axis of histograms
  bool caption = true;         ///< with a title and the machines above the panels
  std::string title = {};      ///< empty: of the kind
  std::string id_prefix = {};  ///< of svg_of(): at the beginning of ids, to be unique in a page
};

/// Draws `measurements` into the files. Throws as write_figure() and bias_figure() do, and Error
/// when there is no measurement.
void draw_figure(const std::vector<analysis::Measurement>& measurements,
                 const FigureOptions& options);

/// Draws the sides of a comparison as a forest. `inputs`: their names. Throws as write_figure()
/// does.
void draw_comparison(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                     const FigureFiles& files);

/// The figure of `machines`, of a comparison, and of audits (always blocks) as SVG, an element
/// for a page: `options.title` is its <title>, texts and axes have the colour of the page's text
/// (currentColor), ids begin with `options.id_prefix`. Without scripts and external references.
/// Throws as draw_figure() and audit_figure() do.
std::string svg_of(const Machines& machines, const FigureOptions& options);
std::string svg_of(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                   const FigureOptions& options);
std::string svg_of(const std::vector<audit::Audit>& audits, const FigureOptions& options);

}  // namespace skid::plots
