// Options that several commands share. Variables must live as long as the command.
#pragma once

#include "runway/trigger.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commands.h"
#include "src/machine/machine.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace skid::commands {

enum class Format;
struct OutputOptions;

/// Returns the option INPUT..., --input: runs and recordings; without any the default run.
Option recordings_option(std::vector<std::string>& inputs);

/// Returns the option --example: the run that comes with skidscan becomes the only one of `inputs`,
/// the values of the argument `name`.
Option example_option(std::vector<std::string>& inputs, const std::string& name = "INPUT");

/// Returns the option --format, one of `formats`; the first one is the default.
Option format_option(Format& format, const std::vector<std::string>& formats);

/// Returns the events of `cpu` (empty: this machine's) as perf spells them, for completion; none if
/// the CPU is unknown. `perfmon`: directory; may be empty.
std::vector<std::string> event_names(const std::string& cpu, const std::string& perfmon);

/// Returns a value of events between the commas of one or several lists.
Value split_events(std::vector<std::string>& events);

/// Returns the value of --event: each use is one list, as perf takes it.
Value event_list(std::vector<std::string>& events);
/// Returns the value of --precise, levels between commas. `levels`: a vector, perhaps optional.
template <typename Levels>
Value level_list(Levels& levels) {
  return Value::parsed("LEVELS", levels, machine::level_named, "none, p, pp, ppp")
      .separated()
      .completing(
          [] {
            return commandline::Texts{"none", "p", "pp", "ppp"};
          },
          commandline::Completion::list);
}

/// Returns the option --bin: width of histogram bins in instructions.
Option bin_option(std::optional<std::int64_t>& width);

/// Returns the option --perf, the perf for machine::find_perf().
Option perf_option(std::string& perf);

/// Returns the option --perfmon DIR, for commands that read recordings.
Option perfmon_option(std::filesystem::path& directory);

/// Returns the option --allow-not-judged, for gates.
Option allow_not_judged_option(bool& allowed);

/// Returns the option --trigger KIND. Parsing throws UsageError for an unknown kind.
Option trigger_option(std::optional<runway::TriggerKind>& trigger, const std::string& description);

/// Returns the options --color, --ascii, --no-pager, --quiet, --verbose.
std::vector<Option> output_options(OutputOptions& options);

/// Returns --details and the output_options(), for commands whose text fits one screen without
/// --details.
std::vector<Option> screen_options(OutputOptions& options);

/// Returns `path`. Throws UsageError naming the option if it is no directory.
const std::string& require_directory(const char* option, const std::string& path);

}  // namespace skid::commands
