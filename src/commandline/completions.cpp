// Completions for shells.
#include "src/commandline/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::commandline {
namespace {

/// A backslash before each of `special`.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// bash

std::string_view kind_of(Completion completion) {
  if (completion == Completion::files) return "files";
  return completion == Completion::directories ? "directories" : "none";
}

std::string option_names(const Command& command) {
  std::vector<std::string> names;
  for (const Option& option : command.options) {
    for (const std::string& name : option.flags()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

/// The lines of a case statement that set the kind of value of each option.
std::string values_of(const Command& command) {
  std::string text;
  for (const Option& option : command.options) {
    if (option.value.name.empty() || option.flags().empty()) continue;
    text += fmt::format("        {}) ", fmt::join(option.flags(), "|"));
    text += option.value.words.empty()
                ? fmt::format("kind={} ;;\n", kind_of(option.value.completion))
                : fmt::format("kind=words words='{}' ;;\n", fmt::join(option.value.words, " "));
  }
  return text.empty() ? text : fmt::format("      case $option in\n{}      esac\n", text);
}

std::string command_case(const Command& command) {
  const auto arguments = arguments_of(command);
  const Completion completion =
      arguments.empty() ? Completion::none : arguments.front()->value.completion;
  return fmt::format("    {})\n      options='{}' arguments={}\n{}      ;;\n", command.name,
                     option_names(command), kind_of(completion), values_of(command));
}

constexpr std::string_view kHead = R"(# bash completion of {0}, generated when {0} was built.

_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command= options= arguments=none kind= words= word
  COMPREPLY=()
  # bash splits --format=json at the sign.
  if [[ $current == '=' ]]; then
    current=
  elif [[ $option == '=' ]]; then
    option=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD - 1}}"; do
    if [[ $word != -* ]]; then
      command=$word
      break
    fi
  done
  case $command in
    '') options='{1}' words='{2}' kind=commands ;;
)";

constexpr std::string_view kTail = R"(  esac
  if [[ -z $kind || $kind == commands ]]; then
    if [[ $current == -* ]]; then
      kind=words words=$options
    elif [[ -z $kind ]]; then
      kind=$arguments
    fi
  fi
  case $kind in
    words | commands) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    files) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    directories) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
  esac
  if [[ $kind == files || $kind == directories ]]; then
    compopt -o filenames 2>/dev/null
  fi
  return 0
}}

complete -F _{0} {0}
)";

// zsh

/// What ends a text within a specification of _arguments.
constexpr std::string_view kEnds = "[]:\\";

/// In single quotes, for bash and zsh.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) c == '\'' ? result += "'\\''" : result += c;
  return result + "'";
}

std::string action(const Value& value) {
  if (value.completion == Completion::words)
    return fmt::format("({})", fmt::join(value.words, " "));
  if (value.completion == Completion::files) return "_files";
  return value.completion == Completion::directories ? "_files -/" : " ";
}

/// An option for _arguments: '(-i --input)'{-i,--input}'[what]:INPUT:_files'.
std::string specification(const Option& option) {
  std::string rest = fmt::format("[{}]", escaped(brief(option.description), kEnds));
  if (!option.value.name.empty()) {
    rest += fmt::format(":{}:{}", escaped(option.value.name, kEnds), action(option.value));
  }
  std::string text;
  for (const std::string& name : option.flags()) {
    // With *, an option may be repeated.
    text += " \\\n        " + in_quotes("*" + name + rest);
  }
  return text;
}

/// The call of _arguments for a command.
std::string arguments_call(const Command& command) {
  std::string text = "      _arguments -s";
  for (const Option& option : command.options) text += specification(option);
  for (const Option* argument : arguments_of(command)) {
    const Value& value = argument->value;
    text += " \\\n        " +
            in_quotes(fmt::format("{}:{}:{}", value.in_a_row ? "*" : "1",
                                  escaped(argument->argument(), kEnds), action(value)));
  }
  return text + '\n';
}

// fish

/// In single quotes, in which fish escapes quotes and backslashes alone.
std::string fish_quoted(std::string_view text) {
  return "'" + escaped(text, "'\\") + "'";
}

/// -x: a value that is no file; -r -F: a file.
std::string fish_value(const Value& value) {
  if (value.name.empty()) return {};
  if (value.completion == Completion::files) return " -r -F";
  if (value.completion == Completion::directories) return " -x -a '(__fish_complete_directories)'";
  if (value.completion == Completion::none) return " -x";
  return " -x -a " + fish_quoted(fmt::format("{}", fmt::join(value.words, " ")));
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

std::string bash_completion(const Program& program) {
  std::vector<std::string> commands;
  for (const Command& command : program.commands) commands.push_back(command.name);
  std::string text = fmt::format(fmt::runtime(kHead), program.itself.name,
                                 option_names(program.itself), fmt::join(commands, " "));
  for (const Command& command : program.commands) text += command_case(command);
  return text + fmt::format(fmt::runtime(kTail), program.itself.name);
}

std::string zsh_completion(const Program& program) {
  std::string text =
      fmt::format("#compdef {0}\n# zsh completion of {0}, generated when {0} was built.\n\n",
                  program.itself.name);
  text += "local -a commands\ncommands=(\n";
  for (const Command& command : program.commands) {
    text += "  " + in_quotes(command.name + ":" + brief(command.description)) + '\n';
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
