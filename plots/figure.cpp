#include "plots/figure.h"

#include "analysis/measurement.h"
#include "plots/drawing.h"
#include "plots/figure_kind.h"
#include "plots/figure_options.h"
#include "plots/kinds.h"
#include "plots/machines.h"
#include "plots/selection.h"
#include "src/output/report/grouping.h"
#include "src/output/report/machine_text.h"
#include "src/output/report/parts.h"
#include "src/support/error.h"
#include "src/support/escape.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {
struct Comparison;
}  // namespace skid::analysis

namespace skid::audit {
struct Audit;
}  // namespace skid::audit

namespace skid::plots {
namespace {

Figure figure_of(const Machines& machines, const FigureOptions& options) {
  using Make = Figure (*)(const Machines&, const FigureOptions&);
  constexpr std::array<Make, kKinds.size()> kMakes{histogram_figure, cdf_figure,  breakdown_figure,
                                                   forest_figure,    bias_figure, delay_figure};
  return kMakes.at(static_cast<std::size_t>(options.kind))(machines, options);
}

/// Names what a figure shows, after its title: ": loads, Intel(R) …". Escaped.
std::string subject_of(const output::MachineGroup& machine) {
  const std::string cpu = escape_for_terminal(output::cpu_name(machine.cpu));
  if (machine.events.size() != 1) return ": " + cpu;
  return fmt::format(": {}, {}", escape_for_terminal(machine.events.front().event), cpu);
}

bool is_plot_file(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".png" || extension == ".svg" || extension == ".pdf";
}

}  // namespace

void check_figure_files(const FigureFiles& files) {
  if (!files.plot.empty() && !is_plot_file(files.plot)) {
    throw ValueError("{}: not the name of a figure; expected .png, .svg or .pdf",
                     files.plot.string());
  }
  if (is_plot_file(files.script)) {
    throw ValueError("{}: is the name of a figure; expected that of a script, as in skid.gp",
                     files.script.string());
  }
}

void draw_figure(const std::vector<analysis::Measurement>& measurements,
                 const FigureOptions& options) {
  std::vector<analysis::Measurement> shown = measurements;
  const Machines machines = group_selected(shown, options);
  Figure figure = figure_of(machines, options);
  figure.head.insert(figure.head.begin(), output::report_answer(machines).first);
  write_figure(figure, options);
}

void draw_figure(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                 const FigureOptions& options) {
  write_figure(forest_figure(comparison, inputs, options), options);
}

void draw_figure(const std::vector<audit::Audit>& audits, const FigureOptions& options) {
  write_figure(audit_figure(audits, options), options);
}

std::string svg_of(const Machines& machines, const FigureOptions& options) {
  if (machines.empty()) throw Error("figure: no measurements to draw");
  Figure figure = figure_of(machines, options);
  if (options.title.empty() && machines.size() == 1) figure.title += subject_of(machines.front());
  return svg_of(figure, options);
}

std::string svg_of(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                   const FigureOptions& options) {
  return svg_of(forest_figure(comparison, inputs, options), options);
}

}  // namespace skid::plots
