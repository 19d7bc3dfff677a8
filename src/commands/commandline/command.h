// The command line as data: the names, values and descriptions of all options, and where the values
// are stored. Parsing, help, manual pages and shell completions all read this one description.
#pragma once

#include "src/commands/commandline/value.h"
#include "src/support/error.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skid::commandline {

struct Option {
  /// "-i", "--input"; one without a dash ("INPUT") makes it a positional argument, too.
  std::vector<std::string> names;
  Value value;
  std::string description;
  std::vector<std::string> excludes = {};  ///< names of options that it cannot be combined with

  /// The names with dashes, "-i" and "--input".
  std::vector<std::string> flags() const;
  /// Whether `name` is one of these.
  bool has_flag(std::string_view name) const;
  /// The name without dashes; empty if it is no positional argument.
  std::string argument() const;
};

struct Command {
  std::string name;  ///< "report"; of the program "skidscan"
  std::string description;
  std::vector<Option> options;
  std::vector<std::string> notes = {};  ///< paragraphs
  /// The exit statuses whose meaning is specific to the command; `all_exit_statuses` adds the
  /// general ones.
  std::map<ExitStatus, std::string> exit_statuses = {};
  /// Lines for bash that work in this order in an empty directory.
  std::vector<std::string> examples = {};
  std::function<ExitStatus()> run = {};
  /// An alternative to an argument, for a command that takes none; may be empty.
  std::string instead_of_argument = {};

  void add(const std::vector<Option>& more);
};

struct Program {
  Command itself;  ///< options without a command
  std::string version;
  std::vector<Command> commands;
};

/// -h, --help: parsing recognizes it in every command.
Option help_option();
/// -V, --version of the program.
Option version_option();

/// The exit statuses of a command with their meaning.
std::map<ExitStatus, std::string> all_exit_statuses(const Command& command);

/// "skidscan report"; of the program itself "skidscan".
std::string full_name(const Program& program, const Command& command);

/// The request of a command line.
struct Call {
  enum class Request { run, help, version };
  const Command* command;  ///< part of the program that was passed to `parse`
  Request request;
};

/// Parses the arguments after the program's name and stores the values of the chosen command's
/// options. Throws UsageError for a wrong command line:
/// "--format xml: expected text, json, csv; try 'skidscan report --help'".
Call parse(const Program& program, const std::vector<std::string>& arguments);

}  // namespace skid::commandline
