#include "src/commandline/help.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::commandline {
namespace {

/// In single quotes, for the shell.
std::string zsh_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) c == '\'' ? result += "'\\''" : result += c;
  return result + "'";
}

/// Text within a specification of _arguments, where brackets and colons end it.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("[]:\\").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string action(const Value& value) {
  switch (value.completion) {
    case Completion::words:
      return fmt::format("({})", fmt::join(value.words, " "));
    case Completion::files:
      return "_files";
    case Completion::directories:
      return "_files -/";
    case Completion::none:
      break;
  }
  return " ";
}

/// An option for _arguments: '(-i --input)'{-i,--input}'[what]:INPUT:_files'.
std::string specification(const Option& option) {
  std::string rest = fmt::format("[{}]", plain(brief(option.description)));
  if (!option.value.name.empty()) {
    rest += fmt::format(":{}:{}", plain(option.value.name), action(option.value));
  }
  std::string text;
  for (const std::string& name : option.flags()) {
    // With *, an option may be repeated.
    text += " \\\n        " + zsh_quoted("*" + name + rest);
  }
  return text;
}

/// The call of _arguments for a command.
std::string arguments_call(const Command& command) {
  std::string text = "      _arguments -s";
  for (const Option& option : command.options) text += specification(option);
  for (const Option* argument : arguments_of(command)) {
    const Value& value = argument->value;
    text += " \\\n        " + zsh_quoted(fmt::format("{}:{}:{}", value.in_a_row ? "*" : "1",
                                                     plain(argument->argument()), action(value)));
  }
  return text + '\n';
}

}  // namespace

std::string zsh_completion(const Program& program) {
  std::string text =
      fmt::format("#compdef {0}\n# zsh completion of {0}, generated when {0} was built.\n\n",
                  program.itself.name);
  text += "local -a commands\ncommands=(\n";
  for (const Command& command : program.commands) {
    text += "  " + zsh_quoted(command.name + ":" + brief(command.description)) + '\n';
  }
  text += ")\nlocal curcontext=$curcontext state line\n_arguments -C";
  for (const Option& option : program.itself.options) text += specification(option);
  text +=
      " \\\n        '1: :->command' \\\n        '*:: :->arguments'\n"
      "case $state in\n"
      "  command) _describe command commands ;;\n"
      "  arguments)\n"
      "    case $line[1] in\n";
  for (const Command& command : program.commands) {
    text += fmt::format("    {})\n{}      ;;\n", command.name, arguments_call(command));
  }
  return text + "    esac\n    ;;\nesac\n";
}

}  // namespace skid::commandline
