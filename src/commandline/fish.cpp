#include "src/commandline/help.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::commandline {
namespace {

/// In single quotes, in which fish escapes quotes and backslashes alone.
std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

/// -x: a value that is no file; -r -F: a file.
std::string fish_value(const Value& value) {
  if (value.name.empty()) return {};
  switch (value.completion) {
    case Completion::words:
      return " -x -a " + fish_quoted(fmt::format("{}", fmt::join(value.words, " ")));
    case Completion::files:
      return " -r -F";
    case Completion::directories:
      return " -x -a '(__fish_complete_directories)'";
    case Completion::none:
      break;
  }
  return " -x";
}

std::string line(const Program& program, const std::string& condition, const Option& option) {
  std::string text =
      fmt::format("complete -c {} -n {}", program.itself.name, fish_quoted(condition));
  for (const std::string& name : option.flags()) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text + fish_value(option.value) + " -d " + fish_quoted(brief(option.description)) + '\n';
}

}  // namespace

std::string fish_completion(const Program& program) {
  const std::string& name = program.itself.name;
  std::string text =
      fmt::format("# fish completion of {0}, generated when {0} was built.\n\n", name);
  const std::string without_command = "__fish_use_subcommand";
  text += fmt::format("complete -c {} -f\n", name);
  for (const Option& option : program.itself.options)
    text += line(program, without_command, option);
  for (const Command& command : program.commands) {
    text += fmt::format("complete -c {} -n {} -a {} -d {}\n", name, fish_quoted(without_command),
                        command.name, fish_quoted(brief(command.description)));
  }
  for (const Command& command : program.commands) {
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    text += '\n';
    const auto arguments = arguments_of(command);
    if (!arguments.empty() && arguments.front()->value.completion == Completion::files) {
      text += fmt::format("complete -c {} -n {} -F\n", name, fish_quoted(condition));
    }
    for (const Option& option : command.options) text += line(program, condition, option);
  }
  return text;
}

}  // namespace skid::commandline
