#include "src/commandline/help.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::commandline {
namespace {

std::string_view kind_of(Completion completion) {
  switch (completion) {
    case Completion::files:
      return "files";
    case Completion::directories:
      return "directories";
    case Completion::none:
    case Completion::words:
      break;
  }
  return "none";
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

}  // namespace

std::string bash_completion(const Program& program) {
  std::vector<std::string> commands;
  for (const Command& command : program.commands) commands.push_back(command.name);
  std::string text = fmt::format(fmt::runtime(kHead), program.itself.name,
                                 option_names(program.itself), fmt::join(commands, " "));
  for (const Command& command : program.commands) text += command_case(command);
  return text + fmt::format(fmt::runtime(kTail), program.itself.name);
}

}  // namespace skid::commandline
