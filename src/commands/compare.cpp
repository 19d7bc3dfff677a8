#include "analysis/comparison.h"
#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "plots/figure.h"
#include "plots/figure_kind.h"
#include "plots/figure_options.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/commands/inputs.h"
#include "src/commands/measurements.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/plot_options.h"
#include "src/commands/reading_options.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/measure/alike.h"
#include "src/measure/event_selection.h"
#include "src/measure/measure.h"
#include "src/output/comparison/comparison.h"
#include "src/output/name_list.h"
#include "src/support/error.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commands {
namespace {

constexpr plots::Kind kDefaultComparisonKind = plots::Kind::forest;

struct CompareOptions {
  std::vector<std::string> inputs;
  std::string baseline;
  analysis::SideBy by = analysis::SideBy::input;
  std::string min_effect;
  std::vector<std::string> pairs;
  std::optional<analysis::Outcome> fail_on;
  PlotOptions plot;
  ReadingOptions reading;
  OutputOptions shown;
};

void set_min_effect(std::string_view text, analysis::ComparisonChoices& choices) {
  constexpr double kMostInstructions = 1e9;
  const auto number_up_to = [](std::string_view number, double most) {
    const auto value = commandline::number_from<double>(number);
    return value && *value >= 0 && *value <= most ? value : std::nullopt;
  };
  const std::size_t comma = text.find(',');
  const auto share = number_up_to(text.substr(0, comma), 1);
  const auto instructions = comma == std::string_view::npos
                                ? std::optional(choices.least_instructions)
                                : number_up_to(text.substr(comma + 1), kMostInstructions);
  if (!share || !instructions) {
    throw UsageError(
        "--min-effect {}: expected a share from 0 to 1, optionally followed by a comma "
        "and a number of instructions, as in 0.001,0.5",
        text);
  }
  choices.least_share = *share;
  choices.least_instructions = *instructions;
}

analysis::ComparisonChoices comparison_choices_of(const CompareOptions& options) {
  analysis::ComparisonChoices choices;
  choices.by = options.by;
  if (!options.min_effect.empty()) set_min_effect(options.min_effect, choices);
  if (!options.baseline.empty()) {
    const auto found = std::ranges::find(options.inputs, options.baseline);
    if (found == options.inputs.end()) {
      throw UsageError("--baseline {}: is not one of the inputs", options.baseline);
    }
    choices.baseline = static_cast<std::size_t>(found - options.inputs.begin());
  }
  return choices;
}

/// Splits "A=B" at the '=' that is not between slashes, as in "r81d0=ibs_op/cnt_ctl=1/"; those of
/// "mem:0x10/8:w" enclose nothing.
std::pair<std::string, std::string> names_of_pair(const std::string& pair) {
  bool in_terms = false;
  for (std::size_t at = 0; at < pair.size(); ++at) {
    if (pair[at] == '/') in_terms = !in_terms && !pair.starts_with("mem:");
    if (pair[at] != '=' || in_terms || at == 0 || at + 1 == pair.size()) continue;
    return {pair.substr(0, at), pair.substr(at + 1)};
  }
  throw UsageError("--pair {}: expected two events, as in r81d0=ibs_op//", pair);
}

/// Gives the events of each pair one label, "A = B", so that they are compared with each other.
/// Throws UsageError where an event was not measured or is in another pair, or an input has both.
void pair_events(const std::vector<std::string>& pairs, Findings& findings) {
  std::set<std::size_t> paired;
  std::set<std::string> labels;
  for (const auto& measurement : findings.measurements) labels.insert(measurement.event.label);
  for (const std::string& pair : pairs) {
    const auto names = names_of_pair(pair);
    std::set<std::size_t> of_pair;
    std::map<std::size_t, const std::string*> name_of_input;
    for (const std::string* name : {&names.first, &names.second}) {
      bool is_measured = false;
      for (std::size_t i = 0; i < findings.measurements.size(); ++i) {
        analysis::EventIdentity& event = findings.measurements[i].event;
        if (*name != event.name && !measure::is_event_named(*name, event)) continue;
        is_measured = true;
        if (!of_pair.insert(i).second) continue;  // by the other name
        if (paired.contains(i)) throw UsageError("--pair {}: {} is in another pair", pair, *name);
        event.label = names.first + " = " + names.second;
        const auto& of_input = name_of_input.try_emplace(findings.input_of[i], name).first->second;
        if (of_input == name) continue;
        throw UsageError("--pair {}: {} has both events", pair,
                         findings.inputs[findings.input_of[i]]);
      }
      if (!is_measured) {
        throw UsageError("--pair {}: no input has the event {}; expected two of {}", pair, *name,
                         output::list_of({labels.begin(), labels.end()}));
      }
    }
    paired.merge(of_pair);
  }
}

/// Returns the inputs; the baseline may be named with --baseline alone.
CompareOptions completed(CompareOptions options) {
  const auto& inputs = options.inputs;
  if (!options.baseline.empty() && std::ranges::find(inputs, options.baseline) == inputs.end()) {
    options.inputs.insert(options.inputs.begin(), options.baseline);
  }
  return options;
}

ExitStatus judge(const CompareOptions& options, const analysis::Comparison& comparison,
                 const Findings& findings) {
  if (options.fail_on == analysis::Outcome::worse) {
    const analysis::Regressions regressions = analysis::regressions_of(comparison);
    if (regressions.sum() > 0) {
      print_error(fmt::format(
          "--fail-on worse: {} worse than the baseline, {} missing, {} that could not be compared",
          regressions.worse, regressions.missing, regressions.not_compared));
      return ExitStatus::gate_failed;
    }
  }
  if (!analysis::compares_anything(comparison)) {
    // The text begins with it.
    if (options.shown.format != Format::text) {
      print_error("nothing was compared: the inputs have no event with samples in common");
    }
    return ExitStatus::failed;
  }
  return status_of(findings.sampled, findings.read_in_part);
}

ExitStatus run_compare(const CompareOptions& given) {
  const CompareOptions options = completed(given);
  if (options.inputs.empty()) {
    throw UsageError("compare: no input; name at least two runs, reports or recordings");
  }
  const measure::Choices reading = choices_of(options.reading);
  const analysis::ComparisonChoices choices = comparison_choices_of(options);
  const auto figure = figure_of(options.plot, kDefaultComparisonKind, options.inputs);
  Findings findings = read_measurements(options.inputs, options.shown, reading);
  if (findings.measurements.empty()) return ExitStatus::failed;
  pair_events(options.pairs, findings);
  if (choices.by == analysis::SideBy::machine) refuse_duplicates(findings);
  const analysis::Comparison comparison =
      analysis::compare({findings.inputs, findings.measurements, findings.input_of}, choices);
  const auto alike = measure::events_alike(comparison, reading.catalogues);
  const auto text = [&alike](const auto&... shown) {
    return output::comparison_text(shown..., alike);
  };
  const auto& inputs = findings.inputs;
  print_as(options.shown, output::comparison_json, output::comparison_csv, text, comparison,
           inputs);
  write_page(
      options.plot.html, "skidscan compare", findings.measurements,
      [&](const auto& page) { return text(comparison, inputs, page); },
      [&](auto, auto, const auto& prefix) {
        return plots::svg_of(comparison, inputs, {.caption = false, .id_prefix = prefix});
      });
  const ExitStatus status = judge(options, comparison, findings);
  if (figure) {
    draw_beside(status, [&] {
      figure->kind == plots::Kind::forest ? plots::draw_figure(comparison, inputs, *figure)
                                          : plots::draw_figure(findings.measurements, *figure);
    });
  }
  return status;
}

}  // namespace

Command compare_command() {
  auto options = std::make_shared<CompareOptions>();
  Command command{
      .name = "compare",
      .description = "compare runs: what differs, by how much, and whether by more than chance",
      .options =
          {{"INPUT,-i,--input", Value::file("INPUT", options->inputs).several(),
            "runs, reports (JSON) or recordings of perf, at least two; the first is the baseline"},
           {"--baseline", Value::file("INPUT", options->baseline),
            "input that the others are compared with, instead of the first"},
           {"--by", Value::one_of("SIDE", options->by),
            "unit of comparison; machine: inputs of the same CPU model, microcode, hypervisor and "
            "kernel are repeats of one another (default: input)"},
           {"--pair", Value::text("A=B", options->pairs),
            "compare event A with event B, which count the same on two CPUs: as requested or "
            "recorded, or by the vendor's name, such as MEM_INST_RETIRED.ALL_LOADS=ibs_op//; may "
            "be repeated"},
           {"--min-effect", Value::text("SHARE[,N]", options->min_effect),
            "smallest marked difference, as a share of samples and in instructions (default: "
            "0.001,0.5)"},
           {"--fail-on", Value::one_of("VERDICT", options->fail_on, {"worse"}),
            "exit with status 4 if an event and level is worse than in the baseline, missing or "
            "not comparable"},
           format_option(options->shown.format, {"text", "json", "csv"})},
      .notes = {"Runs vary more than their samples. Record with --repeat 3 or more to compare runs "
                "instead of samples. docs/compare.md describes the method."},
      .exit_statuses = {{ExitStatus::failed, "failure, or nothing could be compared"}},
      .examples =
          {"skidscan synth --like pebs-sound --all-levels -o a.run",
           "skidscan synth --like vm-broken --all-levels -o b.run && skidscan compare a.run b.run",
           "skidscan compare --baseline a.run b.run --fail-on worse",
           "skidscan compare a.run b.run --by machine --plot hits.png"},
      .run = [options] { return run_compare(*options); }};
  return std::move(command).with(reading_options(options->reading),
                                 plot_options(options->plot, kDefaultComparisonKind),
                                 screen_options(options->shown));
}

}  // namespace skid::commands
