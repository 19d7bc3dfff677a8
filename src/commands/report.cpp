#include "src/commands/report.h"

#include "analysis/measurement.h"
#include "plots/figure.h"
#include "src/commands/each_recording.h"
#include "src/commands/exit_statuses.h"
#include "src/commands/messages.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/page_file.h"
#include "src/commands/plot_options.h"
#include "src/commands/read_measurements.h"
#include "src/commands/reading_options.h"
#include "src/commands/standard_output.h"
#include "src/html/report_page.h"
#include "src/output/report/report.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/words/footer.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace skid::commands {
namespace {

constexpr plots::Kind kDefaultReportKind = plots::Kind::histogram;

struct ReportOptions {
  std::vector<std::string> inputs;
  std::string format = "text";
  std::string fail_on;
  PlotOptions plot;
  std::string html;
  std::optional<std::int64_t> bin;
  ReadingOptions reading;
  OutputOptions shown;
};

void write(const ReportOptions& options, const Findings& findings) {
  if (options.format == "json") {
    print(output::report_json(findings.measurements));
  } else if (options.format == "csv") {
    print(output::report_csv(findings.measurements));
  } else {
    print_page(options.shown, output::report_text(findings.measurements, style_for(options.shown)));
  }
}

ExitStatus judge(const ReportOptions& options, const Findings& findings) {
  if (options.fail_on == "broken") {
    const auto broken = std::count_if(
        findings.measurements.begin(), findings.measurements.end(), [](const auto& measurement) {
          return measurement.contract.verdict == analysis::Verdict::broken;
        });
    if (broken > 0) {
      say(fmt::format("--fail-on broken: {} of {} contracts are broken", broken,
                      findings.measurements.size()));
      return ExitStatus::gate_failed;
    }
  }
  return findings.read_in_part ? ExitStatus::read_in_part : ExitStatus::done;
}

ExitStatus run_report(const ReportOptions& options) {
  const measure::Choices choices = choices_of(options.reading);
  const auto figure = figure_options(options.plot, kDefaultReportKind);
  check_output_files({{"--html", options.html},
                      {"--plot", options.plot.file},
                      {"--plot-script", options.plot.script}},
                     inputs_or_default_run(options.inputs));
  const auto findings =
      read_measurements(options.inputs, Messages(options.shown), choices, options.bin);
  if (findings.measurements.empty()) return ExitStatus::failed;
  write(options, findings);
  if (!options.html.empty()) {
    write_file_atomically(
        options.html, html::report_page(findings.measurements, page_origin(findings.measurements)));
  }
  if (figure) plots::draw_figure(findings.measurements, *figure);
  return judge(options, findings);
}

}  // namespace

void add_report_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<ReportOptions>();
  auto* command = app.add_subcommand(
      "report", "hits, skid distribution and contract verdicts of runs, recordings and reports");
  command
      ->add_option("INPUT,-i,--input", options->inputs,
                   "runs, recordings of perf (files, directories of perf record --threads) or "
                   "reports in JSON; - for standard input (default: skidscan.run)")
      ->type_name("INPUT");
  command->add_option("--format", options->format, "form of what is printed (default: text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "csv"}));
  add_bin_option(*command, options->bin);
  command
      ->add_option("--fail-on", options->fail_on,
                   "broken: exit with status 4 when a contract is broken")
      ->type_name("VERDICT")
      ->check(CLI::IsMember({"broken"}));
  add_reading_options(*command, options->reading);
  add_plot_options(*command, options->plot, kDefaultReportKind);
  command->add_option("--html", options->html, kHtmlHelp)->type_name("FILE");
  add_output_options(*command, options->shown);
  command->footer(words::footer_text(
      {.notes = {},
       .exit_statuses = exit_statuses({{ExitStatus::failed, kNothingRead},
                                       {ExitStatus::read_in_part, kReadInPart},
                                       {ExitStatus::gate_failed, kGateFailed}}),
       .examples = {
           "skidscan record && skidscan report --plot skid.png --html skid.html",
           "skidscan report skidscan.run --kind cdf --plot skid.pdf --plot-script skid.gp",
           "skidscan report skidscan.run --format json --fail-on broken",
           "skidscan report skidscan.run --format json > skid.json && skidscan report skid.json",
           "skidscan report perf.data --hit memreader --runway noprunway",
           "skidscan target -o t && perf record -e cpu-clock -o - ./t | skidscan report -"}}));
  command->callback(
      [options, &exit_status] { exit_status = static_cast<int>(run_report(*options)); });
}

}  // namespace skid::commands
