#include "src/words/zsh.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::words {
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
  switch (value.completion()) {
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
  for (const std::string& name : option.names) {
    // Repeated options are not worth refusing.
    text += " \\\n        " + zsh_quoted("*" + name + rest);
  }
  return text;
}

std::string arguments_of(const Command& command) {
  std::string text = "      _arguments -s";
  for (const Option& option : command.options) text += specification(option);
  for (const Argument& argument : command.arguments) {
    text += " \\\n        " +
            zsh_quoted(fmt::format("{}:{}:{}", argument.value.many ? "*" : "1",
                                   plain(argument.value.name), action(argument.value)));
  }
  return text + '\n';
}

}  // namespace

std::string zsh_completion(const Manual& manual) {
  std::string text = fmt::format("#compdef {}\n# zsh completion of {}, made with the program.\n\n",
                                 manual.program, manual.program);
  text += "local -a commands\ncommands=(\n";
  for (const Command& command : manual.commands) {
    text += "  " + zsh_quoted(command.name + ":" + brief(command.description)) + '\n';
  }
  text += ")\nlocal curcontext=$curcontext state line\n_arguments -C";
  for (const Option& option : manual.itself.options) text += specification(option);
  text +=
      " \\\n        '1: :->command' \\\n        '*:: :->arguments'\n"
      "case $state in\n"
      "  command) _describe command commands ;;\n"
      "  arguments)\n"
      "    case $line[1] in\n";
  for (const Command& command : manual.commands) {
    text += fmt::format("    {})\n{}      ;;\n", command.name, arguments_of(command));
  }
  return text + "    esac\n    ;;\nesac\n";
}

}  // namespace skid::words
