// The commands of a program as data: options, notes, exit statuses and examples. Parsing, help,
// manual pages and shell completions all read this one description.
#pragma once

#include "src/commands/commandline/option.h"
#include "src/support/error.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::commandline {

struct Command {
  std::string name;  ///< "report"; "skidscan" for the program itself
  std::string description;
  std::vector<Option> options;
  std::vector<std::string> notes = {};  ///< paragraphs
  /// The exit statuses whose meaning is specific to the command; `all_exit_statuses` adds the
  /// general ones.
  std::map<ExitStatus, std::string> exit_statuses = {};
  /// Lines for bash that work in this order in an empty directory.
  std::vector<std::string> examples = {};
  std::function<ExitStatus()> run = {};
  /// Names the alternative in the message for an argument which a command does not take; may be
  /// empty.
  std::string instead_of_argument = {};

  /// Returns this command with the options of all `lists` after its own.
  Command with(const std::same_as<std::vector<Option>> auto&... lists) && {
    (options.insert(options.end(), lists.begin(), lists.end()), ...);
    return std::move(*this);
  }
};

struct Program {
  Command itself;  ///< options without a command
  std::string version;
  std::vector<Command> commands;
};

/// Returns the option -h, --help, which parsing recognizes in every command.
inline Option help_option() {
  return {"-h,--help", {}, "print this help and exit"};
}
/// Returns the option -V, --version of the program.
inline Option version_option() {
  return {"-V,--version", {}, "print the version and exit"};
}

/// Returns the exit statuses of a command with their meaning.
inline std::map<ExitStatus, std::string> all_exit_statuses(const Command& command) {
  auto statuses = command.exit_statuses;
  statuses.try_emplace(ExitStatus::done, "success");
  statuses.try_emplace(ExitStatus::failed, "failure; a message states the reason");
  statuses.try_emplace(ExitStatus::usage, "wrong usage");
  return statuses;
}

/// Returns "skidscan report"; for the program itself "skidscan".
inline std::string full_name(const Program& program, const Command& command) {
  if (&command == &program.itself) return program.itself.name;
  return program.itself.name + " " + command.name;
}

}  // namespace skid::commandline
