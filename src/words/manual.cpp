#include "src/words/manual.h"

#include <algorithm>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::words {
namespace {

/// Lists of words that are longer are told in a sentence.
constexpr std::size_t kLongestSpelling = 30;
/// An option that excludes more others is said to stand alone.
constexpr std::size_t kMostExclusions = 5;

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// What a validator of CLI11 calls itself: "{text,json}" of IsMember, "INT in [1 - 9]" of Range.
void add_limit(Value& value, std::string_view limit) {
  constexpr std::string_view kRange = " in [";
  if (limit.starts_with('{') && limit.ends_with('}')) {
    value.words = split(limit.substr(1, limit.size() - 2), ',');
  } else if (const auto range = limit.find(kRange); range != std::string_view::npos) {
    std::string_view bounds = limit.substr(range + kRange.size());
    bounds.remove_suffix(1);
    const std::size_t dash = bounds.find(" - ");
    if (dash == std::string_view::npos) return;
    value.limits = fmt::format("{} to {}", bounds.substr(0, dash), bounds.substr(dash + 3));
  } else if (limit == "NONNEGATIVE") {
    value.limits = "0 or more";
  } else if (limit.starts_with("SIZE")) {
    value.limits = "with a unit: KiB, MiB, GiB";
  }
}

Value value_of(const CLI::Option& option) {
  Value value;
  if (option.get_items_expected_max() == 0) return value;
  const auto parts = split(option.get_type_name(), ':');
  value.name = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) add_limit(value, parts[i]);
  value.many = option.get_expected_max() == CLI::detail::expected_max_vector_size &&
               option.get_allow_extra_args();
  return value;
}

Option read_option(const CLI::Option& option) {
  Option read;
  for (const std::string& name : option.get_snames()) read.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) read.names.push_back("--" + name);
  read.value = value_of(option);
  read.description = option.get_description();
  for (const CLI::Option* other : option.get_excludes()) {
    read.excludes.push_back(other->get_name());
  }
  std::sort(read.excludes.begin(), read.excludes.end());  // the set is ordered by address
  return read;
}

/// Says of an option that goes with hardly any other so once, instead of at each of them.
void tell_exclusions(std::vector<Option>& options) {
  for (Option& option : options) {
    option.alone = option.excludes.size() > kMostExclusions;
    if (!option.alone) continue;
    option.excludes.clear();
    for (Option& other : options) std::erase(other.excludes, option.names.back());
  }
}

std::string without_parentheses(std::string_view text) {
  std::string result;
  int depth = 0;
  for (const char character : text) {
    if (character == '(') {
      if (depth++ == 0 && result.ends_with(' ')) result.pop_back();
    } else if (character == ')' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      result += character;
    }
  }
  return result;
}

}  // namespace

Completion Value::completion() const {
  if (!words.empty()) return Completion::words;
  if (name == "DIR") return Completion::directories;
  const bool is_file = name.starts_with("FILE") || name == "INPUT" || name == "MODEL" ||
                       name == "RUN" || name == "KIT.tar";
  return is_file ? Completion::files : Completion::none;
}

Command read_command(const CLI::App& app) {
  Command command;
  if (app.get_parent() != nullptr) command.name = app.get_name();
  command.description = app.get_description();
  command.footer = parse_footer(app.get_footer());
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      Argument argument{option->get_description(), value_of(*option), option->get_required()};
      argument.value.name = option->get_name(true, false);
      command.arguments.push_back(std::move(argument));
    }
    if (option->nonpositional()) command.options.push_back(read_option(*option));
  }
  tell_exclusions(command.options);
  return command;
}

Manual read_manual(const CLI::App& app, const std::string& version) {
  Manual manual{app.get_name(), version, read_command(app), {}};
  for (const CLI::App* command : app.get_subcommands({})) {
    manual.commands.push_back(read_command(*command));
  }
  return manual;
}

std::string usage_of(const Command& command) {
  std::string usage = "[OPTIONS]";
  for (const Argument& argument : command.arguments) {
    const std::string name = argument.value.name + (argument.value.many ? "..." : "");
    usage += argument.required ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::string spelling_of(const Value& value) {
  const std::string words = fmt::format("{}", fmt::join(value.words, "|"));
  const std::string name = words.empty() || words.size() > kLongestSpelling ? value.name : words;
  return name + (value.many ? "..." : "");
}

std::string spelling_of(const Option& option) {
  std::string text = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.value.name.empty()) text += " " + spelling_of(option.value);
  return text;
}

std::vector<std::string> remarks_of(const Option& option) {
  std::vector<std::string> remarks;
  const Value& value = option.value;
  if (!value.words.empty() && spelling_of(value).starts_with(value.name)) {
    remarks.push_back(fmt::format("one of {}", fmt::join(value.words, ", ")));
  }
  if (!value.limits.empty()) remarks.push_back(value.limits);
  if (option.alone) remarks.emplace_back("not with most of the others");
  if (!option.excludes.empty()) {
    remarks.push_back(fmt::format("not with {}", fmt::join(option.excludes, ", ")));
  }
  return remarks;
}

std::string brief(const std::string& description) {
  constexpr std::size_t kWidth = 100;  // shells cut to the terminal's
  constexpr std::size_t kLeast = 20;   // what is shorter says too little
  const std::string text = without_parentheses(description);
  if (text.size() <= kWidth) return text;
  std::size_t end = std::string::npos;
  for (const std::string_view stop : {"; ", ": ", ", "}) {
    end = text.rfind(stop, kWidth);
    if (end != std::string::npos && end >= kLeast) return text.substr(0, end);
  }
  end = text.rfind(' ', kWidth);
  return text.substr(0, end == std::string::npos ? kWidth : end);
}

}  // namespace skid::words
