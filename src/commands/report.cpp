#include "src/commands/report.h"

#include "analysis/measurement.h"
#include "plots/figure_file.h"
#include "plots/histogram_plot.h"
#include "src/commands/messages.h"
#include "src/commands/standard_output.h"
#include "src/commands/terminal.h"
#include "src/measure/measure.h"
#include "src/output/report.h"
#include "src/run/run.h"
#include "src/support/error.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace skid::commands {
namespace {

constexpr const char* kDefaultRun = "skidscan.run";

struct ReportOptions {
  std::vector<std::string> inputs;
  std::optional<std::string> hit, runway;
  std::string format = "text";
  std::string fail_on;
  std::string plot;
  std::string plot_style = "panels";
  std::int64_t bin = 1;
  std::string perfmon;
};

/// What reading all inputs gave.
struct Findings {
  std::vector<analysis::Measurement> measurements;
  bool read_in_part = false;
  bool has_unreadable = false;  ///< nothing of some input could be read; it was said why
};

void add(Findings& findings, measure::Measured measured) {
  for (auto& measurement : measured.measurements) {
    findings.measurements.push_back(std::move(measurement));
  }
  for (const auto& fault : measured.faults) say(describe(fault));
  findings.read_in_part = findings.read_in_part || measured.read_in_part;
}

/// Says what a run lacks, so that nobody takes it for whole.
void say_gaps(const std::string& directory, const run::Run& run) {
  const auto pending =
      std::count_if(run.measurements.begin(), run.measurements.end(),
                    [](const auto& planned) { return planned.state == run::State::pending; });
  if (pending > 0) {
    say(
        fmt::format("{}: partial run, {} of {} measurements are missing; finish it with: skidscan "
                    "record --resume {}",
                    directory, pending, run.measurements.size(), directory));
  }
  for (const auto& planned : run.measurements) {
    if (planned.state == run::State::refused) {
      say(fmt::format("{}: {} was not recorded: {}", directory, planned.requested, planned.reason));
    }
  }
}

void read_run(const std::string& directory, const measure::Choices& choices, Findings& findings) {
  const auto run = run::read_run(directory);
  say_gaps(directory, run);
  for (const auto& planned : run.measurements) {
    if (planned.state != run::State::finished) continue;
    const measure::Source source{std::filesystem::path(directory) / planned.file, directory, &run,
                                 &planned};
    try {
      add(findings, measure::measure(source, choices));
    } catch (const InputError& error) {
      // One unreadable recording does not hide the others.
      say(error.what());
      findings.read_in_part = true;
    }
  }
}

void read_input(const std::string& input, const measure::Choices& choices, Findings& findings) {
  try {
    if (run::is_run(input)) {
      read_run(input, choices, findings);
    } else {
      add(findings, measure::measure({input, {}, nullptr, nullptr}, choices));
    }
  } catch (const InputError& error) {
    // The others are still worth showing.
    say(error.what());
    findings.read_in_part = true;
    findings.has_unreadable = true;
  }
}

/// Reads all inputs. No measurement comes back where none of them could be read, which was said.
Findings read_inputs(const ReportOptions& options) {
  const measure::Choices choices{options.hit, options.runway, options.bin, options.perfmon};
  std::vector<std::string> inputs = options.inputs;
  if (inputs.empty()) {
    if (!run::is_run(kDefaultRun)) {
      throw Error(
          fmt::format("{}: no run here; make one with 'skidscan record' or name a run or a "
                      "perf.data file",
                      kDefaultRun));
    }
    inputs.emplace_back(kDefaultRun);
  }
  Findings findings;
  for (const auto& input : inputs) read_input(input, choices, findings);
  if (findings.measurements.empty() && !findings.has_unreadable) {
    throw Error(fmt::format("{}: nothing was recorded that could be measured", inputs.front()));
  }
  return findings;
}

void write(const ReportOptions& options, const Findings& findings) {
  if (options.format == "json") {
    print(output::report_json(findings.measurements));
  } else if (options.format == "csv") {
    print(output::report_csv(findings.measurements));
  } else {
    print(output::report_text(findings.measurements,
                              {standard_output_takes_color(), standard_output_width()}));
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
  if (options.hit.has_value() != options.runway.has_value()) {
    throw UsageError("--hit and --runway: one without the other says nothing; give both functions");
  }
  if (!options.plot.empty()) plots::check_plot_file(options.plot);
  const auto findings = read_inputs(options);
  if (findings.measurements.empty()) return ExitStatus::failed;
  write(options, findings);
  if (!options.plot.empty()) {
    plots::plot_histograms(findings.measurements, {options.plot, options.plot_style == "overlaid"
                                                                     ? plots::Arrangement::overlaid
                                                                     : plots::Arrangement::panels});
  }
  return judge(options, findings);
}

}  // namespace

void add_report_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<ReportOptions>();
  auto* command = app.add_subcommand(
      "report", "hits, skid distribution and contract verdicts of runs and perf.data files");
  command->add_option("INPUT,-i,--input", options->inputs,
                      "runs or recordings of perf: files, directories of perf record --threads, - "
                      "for standard input (default: skidscan.run)");
  command->add_option("--hit", options->hit,
                      "function whose samples are hits, for targets that others wrote");
  command->add_option("--runway", options->runway, "function whose samples are skids");
  command->add_option("--format", options->format, "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}));
  command->add_option("--bin", options->bin, "width of a histogram bin in instructions")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  command
      ->add_option("--fail-on", options->fail_on,
                   "broken: exit with status 4 when a contract is broken")
      ->check(CLI::IsMember({"broken"}));
  command->add_option("--perfmon", options->perfmon,
                      "directory of Intel's event files (a checkout of github.com/intel/perfmon), "
                      "where libpfm4 does not know the CPU that was recorded");
  command->add_option("--plot", options->plot, "write the histograms to FILE.png, .svg or .pdf");
  command->add_option("--plot-style", options->plot_style, "levels as panels, or overlaid")
      ->check(CLI::IsMember({"panels", "overlaid"}));
  command->footer(
      "Exit status: 0 done, 1 failed or nothing could be read, 2 some of the inputs could be read\n"
      "only in part or not at all, 4 --fail-on did not hold.\n\n"
      "Examples:\n"
      "  skidscan record && skidscan report --plot skid.png\n"
      "  skidscan report skidscan.run --format json --fail-on broken\n"
      "  skidscan report perf.data --hit memreader --runway noprunway\n"
      "  perf record -o - COMMAND | skidscan report -");
  command->callback(
      [options, &exit_status] { exit_status = static_cast<int>(run_report(*options)); });
}

}  // namespace skid::commands
