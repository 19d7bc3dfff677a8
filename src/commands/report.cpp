#include "src/output/report/report.h"

#include "analysis/contract.h"
#include "analysis/figures.h"
#include "analysis/measurement.h"
#include "plots/figure.h"
#include "plots/figure_kind.h"
#include "plots/figure_options.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commands.h"
#include "src/commands/inputs.h"
#include "src/commands/measurements.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/plot_options.h"
#include "src/commands/reading_options.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/measure/measure.h"
#include "src/support/error.h"
#include "src/support/names.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace skid::commands {
namespace {

constexpr plots::Kind kDefaultReportKind = plots::Kind::histogram;

struct ReportOptions {
  std::vector<std::string> inputs;
  std::optional<analysis::Verdict> fail_on;
  bool allow_not_judged = false;
  PlotOptions plot;
  std::optional<std::int64_t> bin;
  ReadingOptions reading;
  OutputOptions shown;
};

ExitStatus judge(const ReportOptions& options, const Findings& findings) {
  if (options.fail_on == analysis::Verdict::broken) {
    const auto count = [&](auto is_counted) {
      return std::ranges::count_if(findings.measurements, is_counted);
    };
    const auto broken =
        count([](const auto& m) { return verdict_of(m) == analysis::Verdict::broken; });
    if (broken > 0) {
      print_error(fmt::format("--fail-on broken: the contract of {} of {} measurements is broken",
                              broken, findings.measurements.size()));
      return ExitStatus::gate_failed;
    }
    const auto kept = count([](const auto& m) {
      return verdict_of(m) == analysis::Verdict::kept && !m.basis.ignores_level;
    });
    const auto unsampled = count([](const auto& m) { return m.samples.read() == 0; });
    if ((kept == 0 || unsampled > 0) && !options.allow_not_judged) {
      print_error(fmt::format("--fail-on broken: {}; --allow-not-judged accepts that",
                              output::report_answer(findings.measurements)));
      return ExitStatus::nothing_judged;
    }
  }
  const bool may_lack_samples = options.fail_on && options.allow_not_judged;
  const bool is_accepted = may_lack_samples && findings.sampled == Sampled::none;
  return status_of(is_accepted ? Sampled::all : findings.sampled, findings.read_in_part);
}

ExitStatus run_report(const ReportOptions& options) {
  const measure::Choices choices = choices_of(options.reading);
  const auto figure = figure_of(options.plot, kDefaultReportKind, options.inputs);
  const auto findings = read_measurements(options.inputs, options.shown, choices, options.bin);
  if (findings.measurements.empty()) return ExitStatus::failed;
  refuse_duplicates(findings);
  const auto& measurements = findings.measurements;
  print_as(options.shown, output::report_json, output::report_csv, output::report_text,
           measurements);
  write_page(
      options.plot.html, "skidscan report", measurements,
      [&](const auto& page) { return output::report_text(measurements, page); },
      [](auto kind, const auto* machine, const auto& prefix) {
        return plots::svg_of({*machine}, {.kind = *value_named<plots::Kind>(kind),
                                          .arrangement = plots::Arrangement::panels,
                                          .caption = false,
                                          .id_prefix = prefix});
      });
  const ExitStatus status = judge(options, findings);
  if (figure) draw_beside(status, [&] { plots::draw_figure(measurements, *figure); });
  return status;
}

}  // namespace

Command report_command() {
  auto options = std::make_shared<ReportOptions>();
  Command command{
      .name = "report",
      .description =
          "print hits, skid distribution and contract verdicts of runs, recordings and reports",
      .options = {{"INPUT,-i,--input", Value::file("INPUT", options->inputs).several(),
                   "runs, recordings of perf (files, directories of perf record --threads) or "
                   "reports (JSON); - for standard input (default: skidscan.run)"},
                  example_option(options->inputs),
                  format_option(options->shown.format, {"text", "json", "csv"}),
                  bin_option(options->bin),
                  {"--fail-on", Value::one_of("VERDICT", options->fail_on, {"broken"}),
                   "exit with status 4 if the contract of a precise level is broken, 5 if none "
                   "is kept either (not judged or undecided) or a measurement has no samples"},
                  allow_not_judged_option(options->allow_not_judged)},
      .examples =
          {"skidscan record && skidscan report --plot skid.png --html skid.html",
           "skidscan report skidscan.run --kind cdf --plot skid.pdf --plot-script skid.gp",
           "skidscan report skidscan.run --format json --fail-on broken",
           "skidscan report skidscan.run --format json > skid.json && skidscan report skid.json",
           "skidscan report perf.data --hit memreader --runway noprunway",
           "skidscan target -o t && perf record -e cpu-clock -o - ./t | skidscan report -"},
      .run = [options] { return run_report(*options); }};
  return std::move(command).with(reading_options(options->reading),
                                 plot_options(options->plot, kDefaultReportKind),
                                 screen_options(options->shown));
}

}  // namespace skid::commands
