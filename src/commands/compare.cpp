#include "src/commands/compare.h"

#include "analysis/comparison.h"
#include "plots/figure.h"
#include "src/commands/exit_statuses.h"
#include "src/commands/messages.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/page_file.h"
#include "src/commands/plot_options.h"
#include "src/commands/read_measurements.h"
#include "src/commands/reading_options.h"
#include "src/commands/standard_output.h"
#include "src/html/comparison_page.h"
#include "src/output/comparison/comparison.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/words/footer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace skid::commands {
namespace {

constexpr plots::Kind kDefaultComparisonKind = plots::Kind::forest;

struct CompareOptions {
  std::vector<std::string> inputs;
  std::string baseline;
  std::string by = "input";
  std::string min_effect;
  std::string fail_on;
  std::string format = "text";
  PlotOptions plot;
  std::string html;
  ReadingOptions reading;
  OutputOptions shown;
};

/// A number from 0 to `most`, or nullopt.
std::optional<double> number_from(std::string_view text, double most) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || !(value >= 0 && value <= most)) {
    return std::nullopt;
  }
  return value;
}

void set_min_effect(std::string_view text, analysis::ComparisonChoices& choices) {
  constexpr double kMostInstructions = 1e9;
  const std::size_t comma = text.find(',');
  const auto share = number_from(text.substr(0, comma), 1);
  const auto instructions = comma == std::string_view::npos
                                ? std::optional(choices.least_instructions)
                                : number_from(text.substr(comma + 1), kMostInstructions);
  if (!share || !instructions) {
    throw UsageError(
        fmt::format("--min-effect: found '{}', allowed a share from 0 to 1, and behind a comma a "
                    "number of instructions, as in 0.001,0.5",
                    text));
  }
  choices.least_share = *share;
  choices.least_instructions = *instructions;
}

analysis::ComparisonChoices comparison_choices_of(const CompareOptions& options) {
  analysis::ComparisonChoices choices;
  choices.by = options.by == "machine" ? analysis::SideBy::machine : analysis::SideBy::input;
  if (!options.min_effect.empty()) set_min_effect(options.min_effect, choices);
  if (!options.baseline.empty()) {
    const auto found = std::find(options.inputs.begin(), options.inputs.end(), options.baseline);
    if (found == options.inputs.end()) {
      throw UsageError(fmt::format("--baseline: '{}' is none of the inputs", options.baseline));
    }
    choices.baseline = static_cast<std::size_t>(found - options.inputs.begin());
  }
  return choices;
}

/// The baseline may be named with --baseline alone.
CompareOptions completed(CompareOptions options) {
  const auto& inputs = options.inputs;
  if (!options.baseline.empty() &&
      std::find(inputs.begin(), inputs.end(), options.baseline) == inputs.end()) {
    options.inputs.insert(options.inputs.begin(), options.baseline);
  }
  return options;
}

void write(const CompareOptions& options, const analysis::Comparison& comparison,
           const std::vector<std::string>& inputs) {
  if (options.format == "json") {
    print(output::comparison_json(comparison, inputs));
  } else if (options.format == "csv") {
    print(output::comparison_csv(comparison, inputs));
  } else {
    print_page(options.shown,
               output::comparison_text(comparison, inputs, style_for(options.shown)));
  }
}

ExitStatus judge(const CompareOptions& options, const analysis::Comparison& comparison,
                 bool read_in_part) {
  if (options.fail_on == "worse") {
    const analysis::Regressions regressions = analysis::regressions_of(comparison);
    if (regressions.sum() > 0) {
      say(
          fmt::format("--fail-on worse: {} worse than the baseline, {} missing, {} that could not "
                      "be compared",
                      regressions.worse, regressions.missing, regressions.not_compared));
      return ExitStatus::gate_failed;
    }
  }
  return read_in_part ? ExitStatus::read_in_part : ExitStatus::done;
}

ExitStatus run_compare(const CompareOptions& given) {
  const CompareOptions options = completed(given);
  if (options.inputs.empty()) {
    throw UsageError("compare: names nothing; name at least two runs, reports or recordings");
  }
  const measure::Choices reading = choices_of(options.reading);
  const analysis::ComparisonChoices choices = comparison_choices_of(options);
  const auto figure = figure_options(options.plot, kDefaultComparisonKind);
  check_output_files({{"--html", options.html},
                      {"--plot", options.plot.file},
                      {"--plot-script", options.plot.script}},
                     options.inputs);
  const Findings findings = read_measurements(options.inputs, Messages(options.shown), reading);
  if (findings.measurements.empty()) return ExitStatus::failed;
  const analysis::Comparison comparison =
      analysis::compare({findings.inputs, findings.measurements, findings.input_of}, choices);
  write(options, comparison, findings.inputs);
  if (!options.html.empty()) {
    write_file_atomically(options.html, html::comparison_page(comparison, findings.inputs,
                                                              page_origin(findings.measurements)));
  }
  if (figure && figure->kind == plots::Kind::forest) {
    plots::draw_comparison(comparison, findings.inputs, figure->files);
  } else if (figure) {
    plots::draw_figure(findings.measurements, *figure);
  }
  return judge(options, comparison, findings.read_in_part);
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<CompareOptions>();
  auto* command = app.add_subcommand(
      "compare", "runs side by side: what differs, by how much, and whether by more than chance");
  command
      ->add_option(
          "INPUT,-i,--input", options->inputs,
          "runs, reports (JSON) or recordings of perf, at least two; the first is the baseline")
      ->type_name("INPUT");
  command
      ->add_option("--baseline", options->baseline,
                   "input that the others are held against, instead of the first")
      ->type_name("INPUT");
  command
      ->add_option("--by", options->by,
                   "what is a side: input, or machine, where all inputs of the same CPU model, "
                   "microcode, hypervisor and kernel are repeats of each other")
      ->type_name("SIDE")
      ->check(CLI::IsMember({"input", "machine"}));
  command
      ->add_option("--min-effect", options->min_effect,
                   "SHARE[,INSTRUCTIONS]: differences up to these are not marked (default: "
                   "0.001,0.5)")
      ->type_name("SHARE[,N]");
  command
      ->add_option("--fail-on", options->fail_on,
                   "worse: exit with status 4 when something got worse, or when an event and level "
                   "of the baseline is missing or cannot be compared")
      ->type_name("VERDICT")
      ->check(CLI::IsMember({"worse"}));
  command->add_option("--format", options->format, "form of what is printed (default: text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "csv"}));
  add_reading_options(*command, options->reading);
  add_plot_options(*command, options->plot, kDefaultComparisonKind);
  command->add_option("--html", options->html, kHtmlHelp)->type_name("FILE");
  add_output_options(*command, options->shown);
  command->footer(words::footer_text(
      {.notes = {"Runs vary more than their samples: record --repeat 3 or more, and runs are "
                 "compared, not samples. docs/compare.md tells how."},
       .exit_statuses = exit_statuses({{ExitStatus::failed, kNothingRead},
                                       {ExitStatus::read_in_part, kReadInPart},
                                       {ExitStatus::gate_failed, kGateFailed}}),
       .examples = {
           "skidscan synth --like pebs-sound --ladder -o a.run",
           "skidscan synth --like vm-broken --ladder -o b.run && skidscan compare a.run b.run",
           "skidscan compare --baseline a.run b.run --fail-on worse",
           "skidscan compare a.run b.run --by machine --plot hits.png"}}));
  command->callback(
      [options, &exit_status] { exit_status = static_cast<int>(run_compare(*options)); });
}

}  // namespace skid::commands
