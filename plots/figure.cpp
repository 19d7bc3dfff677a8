#include "plots/figure.h"

#include "plots/audit_figure.h"
#include "src/output/report/report.h"
#include "src/support/error.h"

#include <cstddef>

namespace skid::plots {
namespace {

/// By Kind.
constexpr std::array<std::string_view, kKinds.size()> kNames{"histogram", "cdf",  "breakdown",
                                                             "forest",    "bias", "delay"};

Figure figure_of(const Machines& machines, const FigureOptions& options) {
  switch (options.kind) {
    case Kind::histogram:
      return histogram_figure(machines, {options.arrangement, options.logarithmic});
    case Kind::cdf:
      return cdf_figure(machines);
    case Kind::breakdown:
      return breakdown_figure(machines);
    case Kind::forest:
      return forest_figure(machines);
    case Kind::bias:
      return bias_figure(machines);
    case Kind::delay:
      return delay_figure(machines);
  }
  return {};
}

std::string page_svg(Figure figure, const FigureOptions& options) {
  const std::string title = options.title.empty() ? figure.title : options.title;
  figure.title = options.caption ? title : "";
  if (!options.caption) figure.head.clear();
  return svg_of(figure, title, options.id_prefix);
}

}  // namespace

std::string_view name_of(Kind kind) {
  return kNames[static_cast<std::size_t>(kind)];
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
  const Machines machines = output::group(measurements);
  Figure figure = figure_of(machines, options);
  figure.head.insert(figure.head.begin(),
                     {.text = output::report_answer(measurements), .most_lines = 3});
  write_figure(figure, options.files);
}

void draw_comparison(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                     const FigureFiles& files) {
  check_figure_files(files);
  Figure figure = forest_figure(comparison, inputs);
  write_figure(figure, files);
}

std::string svg_of(const Machines& machines, const FigureOptions& options) {
  if (machines.empty()) throw Error("figure: no measurements to draw");
  return page_svg(figure_of(machines, options), options);
}

std::string svg_of(const analysis::Comparison& comparison, const std::vector<std::string>& inputs,
                   const FigureOptions& options) {
  return page_svg(forest_figure(comparison, inputs), options);
}

std::string svg_of(const std::vector<audit::Audit>& audits, const FigureOptions& options) {
  return page_svg(audit_figure(audits, AuditKind::blocks), options);
}

}  // namespace skid::plots
