#include "src/words/fish.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::words {
namespace {

/// In single quotes, within which fish takes backslashes for themselves unless one of these
/// follows.
std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

/// -x: a value that is no file; -r -F: one that is.
std::string fish_value(const Value& value) {
  if (value.name.empty()) return {};
  switch (value.completion()) {
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

std::string line(const Manual& manual, const std::string& condition, const Option& option) {
  std::string text = fmt::format("complete -c {} -n {}", manual.program, fish_quoted(condition));
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text + fish_value(option.value) + " -d " + fish_quoted(brief(option.description)) + '\n';
}

}  // namespace

std::string fish_completion(const Manual& manual) {
  std::string text =
      fmt::format("# fish completion of {}, made with the program.\n\n", manual.program);
  const std::string none_yet = "__fish_use_subcommand";
  text += fmt::format("complete -c {} -f\n", manual.program);
  for (const Option& option : manual.itself.options) text += line(manual, none_yet, option);
  for (const Command& command : manual.commands) {
    text += fmt::format("complete -c {} -n {} -a {} -d {}\n", manual.program, fish_quoted(none_yet),
                        command.name, fish_quoted(brief(command.description)));
  }
  for (const Command& command : manual.commands) {
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    text += '\n';
    const bool takes_files = !command.arguments.empty() &&
                             command.arguments.front().value.completion() == Completion::files;
    if (takes_files) {
      text += fmt::format("complete -c {} -n {} -F\n", manual.program, fish_quoted(condition));
    }
    for (const Option& option : command.options) text += line(manual, condition, option);
  }
  return text;
}

}  // namespace skid::words
