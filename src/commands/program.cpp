#include "src/commands/commands.h"

#include <utility>

namespace skid::commands {

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
      {doctor_command(), record_command(), kit_command(), report_command(), compare_command(),
       merge_command(), annotate_command(), audit_command(), correct_command(), samples_command(),
       inspect_command(), events_command(), rates_command(), synth_command(), target_command()}};
  for (Command& command : program.commands) {
    command.options.insert(command.options.begin(), commandline::help_option());
  }
  return program;
}

}  // namespace skid::commands
