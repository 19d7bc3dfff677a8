#include "src/commands/commandline/help.h"

#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/output/page.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commandline {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kColumn = 28;  ///< where descriptions begin
/// Columns of the longest list of words beside an option; a longer one is a remark after the
/// description.
constexpr std::size_t kLongestSpelling = 30;
/// The most excluded options that are listed; with more the remark is "most other options".
constexpr std::size_t kMostExclusions = 5;

/// Returns a name and its description beside it, or below if the name is too long.
std::string entry(const output::Page& page, const std::string& name,
                  const std::string& description) {
  std::string lead = std::string(kIndent, ' ') + name;
  if (lead.size() + 2 > kColumn)
    lead += '\n' + std::string(kColumn, ' ');
  else
    lead.resize(kColumn, ' ');
  return page.hanging(lead, kColumn, description);
}

/// Returns the options that `option` cannot be combined with; either may name the other.
std::set<std::string> exclusions_of(const Command& command, const Option& option) {
  std::set<std::string> names(option.excludes.begin(), option.excludes.end());
  for (const Option& other : command.options) {
    for (const std::string& name : option.names) {
      const auto& excludes = other.excludes;
      if (std::ranges::find(excludes, name) != excludes.end()) names.insert(other.names.back());
    }
  }
  return names;
}

}  // namespace

std::string help_text(const Program& program, const Command& command, std::size_t width) {
  const output::Page page{.width = std::max(width, 2 * kColumn)};
  std::string text = page.paragraph(command.description);
  text += fmt::format("Usage: {} {}\n", full_name(program, command), usage_of(program, command));
  if (&command == &program.itself) {
    text += "\nCommands:\n";
    for (const Command& each : program.commands) text += entry(page, each.name, each.description);
  }
  const auto arguments = arguments_of(command);
  if (!arguments.empty()) text += "\nArguments:\n";
  for (const Option* argument : arguments) {
    text += entry(page, argument->argument() + (argument->value.in_a_row ? "..." : ""),
                  argument->description);
  }
  text += "\nOptions:\n";
  for (const Option& option : command.options) {
    if (option.flags().empty()) continue;
    const auto remarks = remarks_of(command, option);
    text += entry(page, spelling_of(option),
                  remarks.empty()
                      ? option.description
                      : fmt::format("{} [{}]", option.description, fmt::join(remarks, "; ")));
  }
  for (const std::string& note : command.notes) text += '\n' + page.paragraph(note);
  text += "\nExit status:\n";
  for (const auto& [status, meaning] : all_exit_statuses(command)) {
    const std::string number = fmt::format("{:>{}}  ", static_cast<int>(status), kIndent + 2);
    text += page.hanging(number, number.size(), meaning);
  }
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const std::string& line : command.examples) text += std::string(kIndent, ' ') + line + '\n';
  return text;
}

std::vector<const Option*> arguments_of(const Command& command) {
  std::vector<const Option*> arguments;
  for (const Option& option : command.options) {
    if (!option.argument().empty()) arguments.push_back(&option);
  }
  return arguments;
}

std::string usage_of(const Program& program, const Command& command) {
  std::string usage = &command == &program.itself ? "COMMAND [OPTIONS]" : "[OPTIONS]";
  for (const Option* argument : arguments_of(command)) {
    usage += fmt::format(" [{}{}]", argument->argument(), argument->value.in_a_row ? "..." : "");
  }
  return usage;
}

std::string spelling_of(const Value& value) {
  const std::string words = fmt::format("{}", fmt::join(value.words, "|"));
  const std::string name = words.empty() || words.size() > kLongestSpelling ? value.name : words;
  return name + (value.in_a_row ? "..." : "");
}

std::string spelling_of(const Option& option) {
  const std::string names = fmt::format("{}", fmt::join(option.flags(), ", "));
  return option.value.name.empty() ? names : names + " " + spelling_of(option.value);
}

std::vector<std::string> remarks_of(const Command& command, const Option& option) {
  std::vector<std::string> remarks;
  const Value& value = option.value;
  if (!value.words.empty() && spelling_of(value).starts_with(value.name)) {
    remarks.push_back(fmt::format("one of {}", fmt::join(value.words, ", ")));
  }
  if (!value.limits.empty()) remarks.push_back(value.limits);
  auto excluded = exclusions_of(command, option);
  if (excluded.size() > kMostExclusions) {
    remarks.emplace_back("not with most other options");
    return remarks;
  }
  for (const Option& other : command.options) {
    if (exclusions_of(command, other).size() > kMostExclusions) excluded.erase(other.names.back());
  }
  if (!excluded.empty()) remarks.push_back(fmt::format("not with {}", fmt::join(excluded, ", ")));
  return remarks;
}

}  // namespace skid::commandline
