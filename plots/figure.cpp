#include "plots/figure.h"

#include "plots/bias_plot.h"
#include "plots/cdf_plot.h"
#include "plots/forest_plot.h"
#include "plots/heatmap_plot.h"
#include "plots/histogram_plot.h"
#include "plots/ledger_plot.h"
#include "src/output/grouping.h"
#include "src/support/error.h"

#include <fmt/format.h>

namespace skid::plots {
namespace {

Drawing drawing_of(const std::vector<output::MachineGroup>& machines,
                   const FigureOptions& options) {
  switch (options.kind) {
    case Kind::histogram:
      return draw_histograms(machines, {options.arrangement, options.logarithmic});
    case Kind::cdf:
      return draw_cumulative(machines);
    case Kind::heatmap:
      return draw_heatmap(machines);
    case Kind::ledger:
      return draw_ledgers(machines);
    case Kind::forest:
      return draw_forest(machines);
    case Kind::bias:
      return draw_bias(machines);
  }
  return {};
}

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::histogram:
      return "histogram";
    case Kind::cdf:
      return "cdf";
    case Kind::heatmap:
      return "heatmap";
    case Kind::ledger:
      return "ledger";
    case Kind::forest:
      return "forest";
    case Kind::bias:
      return "bias";
  }
  return "unknown";
}

std::optional<Kind> kind_from(std::string_view name) {
  for (const Kind kind : kKinds) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

void draw_figure(const std::vector<analysis::Measurement>& measurements,
                 const FigureOptions& options) {
  check_figure_files(options.files);
  if (measurements.empty()) throw Error("figure: no measurements to draw");
  write_figure(drawing_of(output::group(measurements), options), options.files);
}

void draw_comparison(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                     const FigureFiles& files) {
  check_figure_files(files);
  write_figure(draw_forest(comparison, inputs), files);
}

}  // namespace skid::plots
