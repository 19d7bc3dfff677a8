#include "src/commands/commandline/command.h"
#include "src/output/escape.h"
#include "src/output/page.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commandline {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kColumn = 28;  ///< where descriptions begin
/// Longer lists of words are a remark after the description.
constexpr std::size_t kLongestSpelling = 30;
/// The others are not listed for an option that excludes more.
constexpr std::size_t kMostExclusions = 5;

/// A name and its description beside it, or below if the name is too long.
std::string entry(const output::Page& page, const std::string& name,
                  const std::string& description) {
  std::string lead = std::string(kIndent, ' ') + name;
  if (lead.size() + 2 > kColumn)
    lead += '\n' + std::string(kColumn, ' ');
  else
    lead.resize(kColumn, ' ');
  return page.hanging(lead, kColumn, description);
}

std::string with_remarks(const Command& command, const Option& option) {
  const auto remarks = remarks_of(command, option);
  if (remarks.empty()) return option.description;
  return fmt::format("{} [{}]", option.description, fmt::join(remarks, "; "));
}

/// The options that `option` cannot be combined with; either may name the other.
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

/// The value that a word after `before` is for; null: none. Stores the options of `before`, because
/// its candidates may depend on them.
const Value* value_after(const Program& program, const Command& command, Texts before) {
  const Value* value = nullptr;
  for (const Option& option : command.options) {
    if (!option.value.name.empty() && option.has_flag(before.back())) value = &option.value;
  }
  if (value != nullptr) {
    before.pop_back();
  } else if (const auto arguments = arguments_of(command); !arguments.empty()) {
    value = &arguments.front()->value;
  }
  try {
    static_cast<void>(parse(program, before));
  } catch (const UsageError&) {  // the line is not complete
  }
  return value;
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
    text += entry(page, spelling_of(option), with_remarks(command, option));
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

std::string completions(const Program& program, Texts words) {
  std::string current = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  std::string prefix;
  if (const auto sign = current.find('='); current.starts_with("--") && sign != std::string::npos) {
    words.push_back(current.substr(0, sign));
    prefix = current.substr(0, sign + 1);
    current.erase(0, sign + 1);
  }
  std::string text = "words\n";
  const auto offer = [&](const std::string& word, std::string_view description) {
    // Names of a recording's functions can be anything.
    if (!word.starts_with(current) || !output::is_printable_ascii(word)) return;
    text.append(prefix).append(word).append(description.empty() ? "" : "\t");
    // The first clause fits the line of a word.
    text.append(trimmed(description.substr(0, description.find_first_of(":;(")))) += '\n';
  };
  const auto offer_options = [&](const Command& command) {
    for (const Option& option : command.options) {
      for (const std::string& name : option.flags()) offer(name, option.description);
    }
  };
  const auto name =
      std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with('-'); });
  if (name == words.end()) {
    for (const Command& command : program.commands) offer(command.name, command.description);
    if (current.starts_with('-')) offer_options(program.itself);
    return text;
  }
  const Command* command = find_by(program.commands, &Command::name, *name);
  if (command == nullptr) return text;
  const bool is_option = current.starts_with('-') && prefix.empty();
  if (is_option) offer_options(*command);
  const Value* value = is_option ? nullptr : value_after(program, *command, words);
  if (value == nullptr) return text;
  if (value->completion == Completion::files) return "files\n";
  if (value->completion == Completion::directories) return "directories\n";
  if (value->completion == Completion::list) {
    const std::size_t begin = current.rfind(',') + 1;
    prefix += current.substr(0, begin);
    current.erase(0, begin);
  }
  for (const std::string& word : value->candidates ? value->candidates() : value->words) {
    offer(word, "");
  }
  return text;
}

}  // namespace skid::commandline
