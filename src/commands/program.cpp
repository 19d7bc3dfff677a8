#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commands.h"
#include "src/support/error.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace skid::commands {
namespace {

constexpr const char* kReadInPart =
    "an input was read only in part or not at all, or has no samples";
constexpr const char* kGateFailed = "the condition of --fail-on was met";
constexpr const char* kNothingJudged =
    "--fail-on: nothing could be judged; report: all is undecided, or a measurement has no samples";

/// Adds what every command has, and the exit statuses that follow from the options of this one.
void complete(Command& command) {
  const auto add_status = [&](const char* option, ExitStatus status, const char* meaning) {
    const auto has = [option](const auto& of) { return std::ranges::count(of.names, option) > 0; };
    if (std::ranges::any_of(command.options, has)) {
      command.exit_statuses.try_emplace(status, meaning);
    }
  };
  add_status("INPUT", ExitStatus::failed,
             "failure, no input could be read, or there is no sample that is selected");
  add_status("INPUT", ExitStatus::read_in_part, kReadInPart);
  add_status("--fail-on", ExitStatus::gate_failed, kGateFailed);
  add_status("--allow-not-judged", ExitStatus::nothing_judged, kNothingJudged);
  command.options.insert(command.options.begin(), commandline::help_option());
}

}  // namespace

commandline::Program program() {
  Command itself{
      .name = "skidscan",
      .description =
          "measures the distance between sampled instructions and the ones that caused the event, "
          "at each precise level of perf",
      .options = {commandline::help_option(), commandline::version_option()},
      .notes = {"'skidscan COMMAND --help' documents each command."},
      .exit_statuses = {{ExitStatus::read_in_part, kReadInPart},
                        {ExitStatus::builtin_events_only,
                         "doctor: only the built-in events can be sampled on this machine"},
                        {ExitStatus::gate_failed, kGateFailed},
                        {ExitStatus::nothing_judged, kNothingJudged}},
      .examples = {"skidscan record && skidscan report"}};
  commandline::Program program{
      std::move(itself),
      SKIDSCAN_VERSION,
      {doctor_command(), record_command(), report_command(), compare_command(), merge_command(),
       annotate_command(), audit_command(), correct_command(), samples_command(), inspect_command(),
       events_command(), rates_command(), synth_command(), target_command()}};
  std::ranges::for_each(program.commands, complete);
  return program;
}

}  // namespace skid::commands
