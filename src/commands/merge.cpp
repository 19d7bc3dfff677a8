#include "analysis/merge.h"

#include "analysis/measurement.h"
#include "analysis/wording.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/commands/inputs.h"
#include "src/commands/measurements.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/reading_options.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/measure/measure.h"
#include "src/output/report/report.h"
#include "src/support/error.h"
#include "src/support/escape.h"
#include "src/support/staged_file.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commands {
namespace {

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;
  bool pool = false;
  bool as_repeats = false;
  bool allow_duplicates = false;
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
    throw UsageError("merge: no input; name reports, runs or recordings");
  }
  const measure::Choices choices = choices_of(options.reading);
  // A sum may grow: all inputs are read before one is replaced.
  if (options.output != "-") {
    check_output_files({{"-o", options.output}}, options.inputs, /*may_replace_reports=*/true);
  }
  auto findings = read_measurements(options.inputs, options.shown, choices, options.bin);
  const std::size_t read = findings.measurements.size();
  if (read == 0) return ExitStatus::failed;
  if (!options.allow_duplicates) refuse_duplicates(findings, ", or add --allow-duplicates");
  const auto merged =
      analysis::merge(std::move(findings.measurements), findings.input_of, repeats_of(options));
  for (const std::string& difference : merged.differences) {
    constexpr std::size_t kLongestDifference = 300;
    print_error("not added up: " + shorten(difference, kLongestDifference));
  }
  const std::string report = output::report_json(merged.measurements);
  if (options.output.empty() || options.output == "-") {
    print(report);
  } else {
    write_file_atomically(options.output, report);
  }
  options.shown.note(fmt::format("{} of {} became {}", analysis::counted(read, "measurement"),
                                 analysis::counted(findings.inputs.size(), "input"),
                                 merged.measurements.size()));
  if (!options.as_repeats && !merged.differences.empty() && merged.measurements.size() == read) {
    throw Error("nothing was added up: no two measurements have the same configuration");
  }
  // The sum of measurements without samples is one, too.
  const Sampled sampled = findings.sampled == Sampled::none ? Sampled::all : findings.sampled;
  return status_of(sampled, findings.read_in_part);
}

}  // namespace

Command merge_command() {
  auto options = std::make_shared<MergeOptions>();
  Command command{
      .name = "merge",
      .description = "add up reports, runs and recordings of the same configuration in one report",
      .options = {{"INPUT,-i,--input", Value::file("INPUT", options->inputs).several(),
                   "reports (JSON), runs or recordings of perf; - for standard input"},
                  {"-o,--output", Value::file("FILE", options->output),
                   "write the report to this file (default: standard output)"},
                  {"--pool", Value::flag(options->pool),
                   "add up repetitions, too: one sample of all runs, whose intervals do not "
                   "include the variation between runs"},
                  {"--as-repeats",
                   Value::flag(options->as_repeats),
                   "add up nothing: make all measurements of the same configuration repetitions of "
                   "one run, for intervals over runs",
                   {"--pool"}},
                  {"--allow-duplicates", Value::flag(options->allow_duplicates),
                   "count a recording twice that is in two inputs"},
                  bin_option(options->bin)},
      .notes = {"The report of the sum equals the report of one recording with all samples. "
                "Measurements of the same configuration have the same event as requested and as "
                "recorded, level, period, CPU, microcode, kernel, trigger and runway. Others "
                "remain separate, and the first difference is reported. Repetition 1 is added to "
                "repetition 1, 2 to 2, so that runs with repetitions keep them. A recording in two "
                "inputs is refused, also as a copy with another name: as many samples of the same "
                "event in the same time, in nanoseconds."},
      .exit_statuses = {{ExitStatus::failed,
                         "failure, no input could be read, or nothing could be added up"}},
      .examples =
          {"skidscan record -e access -o monday.run", "skidscan record -e access -o tuesday.run",
           "skidscan merge monday.run tuesday.run -o both.json && skidscan report both.json",
           "skidscan merge monday.run tuesday.run --as-repeats -o week.json",
           "skidscan merge monday.run --pool | skidscan report -"},
      .run = [options] { return run_merge(*options); }};
  return std::move(command).with(reading_options(options->reading), output_options(options->shown));
}

}  // namespace skid::commands
