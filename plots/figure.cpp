#include "plots/figure.h"

#include "plots/bias_plot.h"
#include "plots/cdf_plot.h"
#include "plots/characters.h"
#include "plots/forest_plot.h"
#include "plots/heatmap_plot.h"
#include "plots/histogram_plot.h"
#include "plots/ledger_plot.h"
#include "src/output/report/grouping.h"
#include "src/support/error.h"

#include <fmt/format.h>

namespace skid::plots {
namespace {

// Names of recordings are made drawable before the figure is laid out: as they are then, they have
// the room that they take.

void make_drawable(std::string& text, Fonts fonts) {
  text = drawable(text, fonts);
}

void make_drawable(analysis::Cpu& cpu, Fonts fonts) {
  for (std::string* text : {&cpu.vendor, &cpu.model_name, &cpu.microcode, &cpu.arch}) {
    make_drawable(*text, fonts);
  }
  if (cpu.hypervisor) make_drawable(*cpu.hypervisor, fonts);
}

void make_drawable(std::vector<output::MachineGroup>& machines, Fonts fonts) {
  for (output::MachineGroup& machine : machines) {
    make_drawable(machine.cpu, fonts);
    make_drawable(machine.kernel, fonts);
    for (output::Source& source : machine.sources) make_drawable(source.name, fonts);
    for (output::EventGroup& event : machine.events) make_drawable(event.event, fonts);
  }
}

void make_drawable(analysis::Comparison& comparison, Fonts fonts) {
  for (analysis::Side& side : comparison.sides) {
    make_drawable(side.cpu, fonts);
    make_drawable(side.kernel, fonts);
    make_drawable(side.name, fonts);
  }
  for (analysis::ComparisonRow& row : comparison.rows) make_drawable(row.event, fonts);
}

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
  std::vector<output::MachineGroup> machines = output::group(measurements);
  make_drawable(machines, fonts_of(options.files));
  write_figure(drawing_of(machines, options), options.files);
}

void draw_comparison(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                     const FigureFiles& files) {
  check_figure_files(files);
  const Fonts fonts = fonts_of(files);
  analysis::Comparison shown = comparison;
  make_drawable(shown, fonts);
  std::vector<std::string> names = inputs;
  for (std::string& name : names) make_drawable(name, fonts);
  write_figure(draw_forest(shown, names), files);
}

}  // namespace skid::plots
