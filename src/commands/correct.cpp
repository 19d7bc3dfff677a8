#include "src/correct/correct.h"

#include "analysis/event_identity.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/commands/each_recording.h"
#include "src/commands/inputs.h"
#include "src/commands/measurements.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/reading_options.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/correct/skid.h"
#include "src/output/correct/correct.h"
#include "src/run/packed_run.h"
#include "src/run/run.h"
#include "src/support/cores.h"
#include "src/support/error.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commands {
namespace {

struct CorrectOptions : ProfileOptions {
  correct::By by = correct::By::instruction;
  std::optional<correct::Verdict> fail_on;
  std::string output;
};

/// Prints the events that were refused. Returns whether there are any.
bool report_refused(const std::vector<correct::Correction>& corrections) {
  bool any = false;
  for (const auto& correction : corrections) {
    for (const auto& event : correction.events) {
      if (event.skid.verdict != correct::Verdict::refused) continue;
      any = true;
      print_error(fmt::format("--fail-on refused: {}: {}: {}", correction.file,
                              event.identity.label, event.skid.reason));
    }
  }
  return any;
}

ExitStatus run_correct(const CorrectOptions& options) {
  const auto inputs = inputs_or_default_run(options.inputs);
  if (!options.output.empty()) {
    if (inputs.size() > 1 || run::is_run(inputs.front()) || run::is_packed_run(inputs.front())) {
      throw UsageError("-o copies one recording; name a single file");
    }
    check_output_files({{"-o", options.output}}, inputs);
  }
  Cores cores(Cores::usable());
  correct::Choices choices{reading_choices(options, &cores)};
  choices.by = options.by;
  choices.output = options.output;
  const auto measured = measured_by(options.skid, options.shown, choices.catalogues);
  if (measured) choices.measured = measured->measurements;
  std::vector<correct::Correction> corrections;
  const auto read =
      each_result(inputs, cores, options.filter, options.shown, corrections,
                  [&](const measure::Source& source) { return correct::correct(source, choices); });
  if (corrections.empty()) return ExitStatus::failed;
  const auto json = [&](const auto& of) { return output::correct_json(of, read.unread); };
  print_as(options.shown, json, output::correct_csv, output::correct_text, corrections);
  if (options.fail_on == correct::Verdict::refused && report_refused(corrections)) {
    return ExitStatus::gate_failed;
  }
  if (!options.output.empty() && !corrections.front().is_written) {
    print_error(fmt::format("-o {}: not written: no event was corrected", options.output));
    return ExitStatus::failed;
  }
  return read.status();
}

}  // namespace

Command correct_command() {
  auto options = std::make_shared<CorrectOptions>();
  Command command{
      .name = "correct",
      .description = "take a constant skid out of a profile; refuse where that cannot be done",
      .options = {recordings_option(options->inputs),
                  example_option(options->inputs),
                  skid_option(options->skid, "skid"),
                  {"--by", Value::one_of("UNIT", options->by),
                   "what the counts are added up by (default: instruction)"},
                  format_option(options->shown.format, {"text", "json", "csv"}),
                  {"-o,--output", Value::file("FILE", options->output),
                   "write a copy of the recording whose moved samples have their new addresses; "
                   "undecided ones, and those that the filters leave out, stay"},
                  {"--fail-on", Value::one_of("VERDICT", options->fail_on, {"refused"}),
                   fmt::format(
                       "exit with status {} if an event is refused; one corrected in part is not",
                       static_cast<int>(ExitStatus::gate_failed))},
                  perfmon_option(options->perfmon)},
      .notes =
          {"Data breakpoints of x86 skid by one instruction; of other events --skid has to "
           "show a constant. Each sample moves to the instruction that executed before and "
           "can have caused the event. Where there are several, the data address, the registers "
           "and the branch records of the sample decide, or it stays; the interval has what may be "
           "at a place. docs/correct.md describes the rules."},
      .examples = {"skidscan record -e access && skidscan correct",
                   "skidscan correct skidscan.run --by function --format json"},
      .run = [options] { return run_correct(*options); }};
  return std::move(command).with(filter_options(options->filter), binary_options(options->binaries),
                                 screen_options(options->shown));
}

}  // namespace skid::commands
