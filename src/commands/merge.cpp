#include "src/commands/merge.h"

#include "analysis/merge.h"
#include "analysis/wording.h"
#include "src/commands/exit_statuses.h"
#include "src/commands/messages.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/read_measurements.h"
#include "src/commands/reading_options.h"
#include "src/commands/standard_output.h"
#include "src/output/escape.h"
#include "src/output/report/report.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/words/footer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace skid::commands {
namespace {

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;
  bool pool = false;
  bool as_repeats = false;
  std::optional<std::int64_t> bin;
  ReadingOptions reading;
  OutputOptions shown;
};

analysis::RepeatPolicy repeats_of(const MergeOptions& options) {
  if (options.pool) return analysis::RepeatPolicy::pool;
  return options.as_repeats ? analysis::RepeatPolicy::apart : analysis::RepeatPolicy::pair;
}

ExitStatus run_merge(const MergeOptions& options) {
  if (options.inputs.empty()) {
    throw UsageError("merge: names nothing; name reports, runs or recordings");
  }
  const measure::Choices choices = choices_of(options.reading);
  // A sum may grow: all inputs are read before one is replaced.
  if (options.output != "-") {
    check_output_files({{"-o", options.output}}, options.inputs, /*may_replace_reports=*/true);
  }
  auto findings = read_measurements(options.inputs, Messages(options.shown), choices, options.bin);
  const std::size_t read = findings.measurements.size();
  if (read == 0) return ExitStatus::failed;
  const auto merged =
      analysis::merge(std::move(findings.measurements), findings.input_of, repeats_of(options));
  for (const std::string& difference : merged.differences) {
    constexpr std::size_t kLongestDifference = 300;
    say("not added up: " + output::shorten(difference, kLongestDifference));
  }
  const std::string report = output::report_json(merged.measurements);
  if (options.output.empty() || options.output == "-") {
    print(report);
  } else {
    write_file_atomically(options.output, report);
  }
  Messages(options.shown)
      .note(fmt::format("{} of {} became {}", analysis::counted(read, "measurement"),
                        analysis::counted(findings.inputs.size(), "input"),
                        merged.measurements.size()));
  return findings.read_in_part ? ExitStatus::read_in_part : ExitStatus::done;
}

}  // namespace

void add_merge_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<MergeOptions>();
  auto* command = app.add_subcommand(
      "merge", "add reports, runs and recordings of the same configuration up to one report");
  command
      ->add_option("INPUT,-i,--input", options->inputs,
                   "reports in JSON, runs or recordings of perf; - for standard input")
      ->type_name("INPUT");
  command
      ->add_option("-o,--output", options->output,
                   "file to write the report to (default: standard output)")
      ->type_name("FILE");
  auto* pool = command->add_flag("--pool", options->pool,
                                 "add up the repetitions too: one sample of all runs, whose "
                                 "intervals no longer tell how runs vary");
  command
      ->add_flag("--as-repeats", options->as_repeats,
                 "add nothing up: number all measurements of the same configuration as repetitions "
                 "of one run, for intervals over runs")
      ->excludes(pool);
  add_bin_option(*command, options->bin);
  add_reading_options(*command, options->reading);
  add_output_options(*command, options->shown);
  command->footer(words::footer_text(
      {.notes = {"The report of the sum equals the report of one recording that has all samples. "
                 "Of the same configuration are measurements of the same event as asked for and "
                 "recorded, level, period, CPU, microcode, kernel, trigger and runway; others "
                 "stand beside each other, and the first difference is said. Repetition 1 is added "
                 "to repetition 1, 2 to 2, so that runs with repetitions keep them. The same "
                 "recording in two inputs is refused."},
       .exit_statuses = exit_statuses(
           {{ExitStatus::failed, kNothingRead}, {ExitStatus::read_in_part, kReadInPart}}),
       .examples = {
           "skidscan record -e access -o monday.run", "skidscan record -e access -o tuesday.run",
           "skidscan merge monday.run tuesday.run -o both.json && skidscan report both.json",
           "skidscan merge monday.run tuesday.run --as-repeats -o week.json",
           "skidscan merge monday.run --pool | skidscan report -"}}));
  command->callback(
      [options, &exit_status] { exit_status = static_cast<int>(run_merge(*options)); });
}

}  // namespace skid::commands
