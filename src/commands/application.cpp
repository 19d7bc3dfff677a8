#include "src/commands/application.h"

#include "src/commands/annotate.h"
#include "src/commands/audit.h"
#include "src/commands/compare.h"
#include "src/commands/doctor.h"
#include "src/commands/events.h"
#include "src/commands/exit_statuses.h"
#include "src/commands/inspect.h"
#include "src/commands/kit.h"
#include "src/commands/merge.h"
#include "src/commands/rates.h"
#include "src/commands/record.h"
#include "src/commands/report.h"
#include "src/commands/samples.h"
#include "src/commands/synth.h"
#include "src/commands/target.h"
#include "src/commands/terminal.h"
#include "src/words/footer.h"
#include "src/words/help.h"
#include "src/words/manual.h"
#include "src/words/validators.h"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace skid::commands {
namespace {

/// The help of the program or of a command of it.
std::string help_of(const CLI::App& app) {
  const auto* program = app.get_parent() == nullptr ? &app : app.get_parent();
  std::vector<words::Command> commands;
  if (program == &app) commands = words::read_manual(app, {}).commands;
  return words::help_text(program->get_name(), words::read_command(app), commands,
                          standard_output_width());
}

/// No option takes a value of no characters, which a variable that a script did not set becomes.
/// Names of inputs and elements of lists are looked at by who reads them.
void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_max() > 0 && option->get_delimiter() == '\0' &&
        !option->get_positional()) {
      option->check(words::not_empty());
    }
  }
}

}  // namespace

std::unique_ptr<CLI::App> make_application(int& exit_status) {
  auto app = std::make_unique<CLI::App>(
      "measures how far sampled instructions lie from the ones that caused the event, at each "
      "precise level of perf",
      "skidscan");
  // Commands inherit both.
  app->formatter_fn([](const CLI::App* shown, const std::string&, CLI::AppFormatMode) {
    return help_of(*shown);
  });
  app->set_help_flag("-h,--help", "print this and exit");
  app->set_version_flag("--version", "skidscan " SKIDSCAN_VERSION, "print the version and exit");
  app->require_subcommand(1);
  app->footer(words::footer_text(
      {.notes = {"'skidscan COMMAND --help' documents each command."},
       .exit_statuses = exit_statuses({{ExitStatus::read_in_part, kReadInPart},
                                       {ExitStatus::builtin_events_only,
                                        "doctor: only the built-in events can be sampled here"},
                                       {ExitStatus::gate_failed, kGateFailed}}),
       .examples = {"skidscan record && skidscan report"}}));
  add_doctor_command(*app, exit_status);
  add_record_command(*app, exit_status);
  add_kit_command(*app, exit_status);
  add_report_command(*app, exit_status);
  add_compare_command(*app, exit_status);
  add_merge_command(*app, exit_status);
  add_annotate_command(*app, exit_status);
  add_audit_command(*app, exit_status);
  add_samples_command(*app, exit_status);
  add_inspect_command(*app, exit_status);
  add_events_command(*app, exit_status);
  add_rates_command(*app, exit_status);
  add_synth_command(*app, exit_status);
  add_target_command(*app, exit_status);
  for (CLI::App* command : app->get_subcommands({})) refuse_empty_values(*command);
  return app;
}

}  // namespace skid::commands
