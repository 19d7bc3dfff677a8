#include "src/commands/commandline/parse.h"

#include "src/commands/commandline/command.h"
#include "src/commands/commandline/help.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/support/near_names.h"
#include "src/support/text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commandline {
namespace {

constexpr const char* kHelp = "--help";
constexpr const char* kVersion = "--version";

/// What a command line contains of one option.
struct Given {
  const Option* option;
  std::size_t uses = 0;
  Texts values = {};
};

/// The words of a command line, sorted by the options of a command. Words are taken as getopt_long
/// takes them: "--name VALUE", "--name=VALUE", "-nVALUE", "-abc" for three flags, and "--" before
/// arguments that begin with a dash.
class Words {
 public:
  explicit Words(const Command& command) {
    for (const Option& option : command.options) given_.push_back({&option});
  }

  /// Takes the word at `next`, and the values that follow it. Returns the number of the next word.
  std::size_t take(const Texts& words, std::size_t next) {
    const std::string& word = words[next++];
    if (only_arguments_ || !is_option(word)) {
      take_argument(word);
      return next;
    }
    if (word == "--") {
      only_arguments_ = true;
      return next;
    }
    if (!word.starts_with("--")) return take_short(words, next);
    const std::size_t equals = word.find('=');
    Given* given = find(word.substr(0, equals));
    if (given == nullptr) {
      extras_.push_back(word);
      return next;
    }
    ++given->uses;
    if (equals == word.npos) return take_values(*given, words, next);
    if (given->option->value.name.empty()) {
      note_mismatch(*given, "has no value");
    } else {
      given->values.push_back(word.substr(equals + 1));
    }
    return next;
  }

  /// Whether an option has this name, with dashes.
  bool knows(std::string_view flag) const {
    return std::ranges::any_of(given_,
                               [flag](const Given& each) { return each.option->has_flag(flag); });
  }
  /// `name`: of an option or an argument.
  bool has(std::string_view name) const {
    return std::ranges::any_of(given_, [name](const Given& each) {
      return each.uses > 0 &&
             std::ranges::find(each.option->names, name) != each.option->names.end();
    });
  }

  const std::vector<Given>& given() const noexcept { return given_; }
  /// Words that no option and no argument of the command matched.
  const Texts& extras() const noexcept { return extras_; }
  /// A flag that has a value, or the last option without its value; empty: neither.
  const std::string& mismatch() const noexcept { return mismatch_; }

 private:
  /// "-" is an argument: standard input.
  static bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

  Given* find(std::string_view flag) {
    const auto found = std::ranges::find_if(
        given_, [flag](const Given& each) { return each.option->has_flag(flag); });
    return found == given_.end() ? nullptr : &*found;
  }

  void note_mismatch(const Given& given, std::string_view problem) {
    if (mismatch_.empty()) mismatch_ = fmt::format("{}: {}", given.option->names.back(), problem);
  }

  void take_argument(const std::string& word) {
    for (Given& each : given_) {
      if (each.option->argument().empty()) continue;
      if (each.uses > 0 && !each.option->value.in_a_row) continue;
      ++each.uses;
      each.values.push_back(word);
      return;
    }
    extras_.push_back(word);
  }

  /// "-v", "-qv", "-ofile", "-o file".
  std::size_t take_short(const Texts& words, std::size_t next) {
    const std::string& word = words[next - 1];
    for (std::size_t i = 1; i < word.size(); ++i) {
      Given* given = find(std::string{'-', word[i]});
      if (given == nullptr) {
        extras_.push_back(i == 1 ? word : '-' + word.substr(i));
        return next;
      }
      ++given->uses;
      if (given->option->value.name.empty()) continue;
      if (i + 1 == word.size()) return take_values(*given, words, next);
      given->values.push_back(word.substr(i + 1));
      return next;
    }
    return next;
  }

  /// The first value may begin with a dash, others of `in_a_row` may not.
  std::size_t take_values(Given& given, const Texts& words, std::size_t next) {
    const Value& value = given.option->value;
    if (value.name.empty()) return next;
    if (next == words.size()) {
      note_mismatch(given, fmt::format("no value, expected {}", value.expected()));
      return next;
    }
    given.values.push_back(words[next++]);
    while (value.in_a_row && next < words.size() && !is_option(words[next])) {
      given.values.push_back(words[next++]);
    }
    return next;
  }

  std::vector<Given> given_;
  Texts extras_;
  std::string mismatch_;
  bool only_arguments_ = false;
};

std::vector<std::string> command_names(const Program& program) {
  std::vector<std::string> names;
  for (const Command& command : program.commands) names.push_back(command.name);
  return names;
}

/// An option without its value: "--format" of "--format=json".
std::string name_in(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

std::string no_such_command(const Program& program, const std::string& name) {
  return fmt::format("'{}': no such command{}", name, did_you_mean(name, command_names(program)));
}

std::string no_such_option(const Command& command, const std::string& argument) {
  const std::string name = name_in(argument);
  std::vector<std::string> known;
  for (const Option& option : command.options) {
    if (const auto flags = option.flags(); !flags.empty()) known.push_back(flags.back());
  }
  std::error_code ignored;
  if (std::filesystem::exists(argument, ignored)) {
    return fmt::format("{}: no such option; ./{} names the file", name, argument);
  }
  // A single letter is similar to every name.
  return fmt::format("{}: no such option{}", name,
                     name.starts_with("--") ? did_you_mean(name, known) : "");
}

Texts values_of(const Given& given) {
  if (!given.option->value.comma_separated) return given.values;
  Texts values;
  for (std::string_view list : given.values) {
    while (!list.empty()) {
      if (const auto value = take_until(',', list); !value.empty()) values.emplace_back(value);
    }
  }
  return values;
}

/// Stores the values that were given for an option. Returns what is wrong with them, if anything.
std::string store(const Given& given) {
  const Option& option = *given.option;
  const Value& value = option.value;
  const std::string& name = option.names.back();
  const Texts values = values_of(given);
  // An unset variable of a script becomes an empty value.
  const bool is_empty = values.empty() || std::ranges::find(values, "") != values.end();
  if (!value.name.empty() && is_empty) {
    return fmt::format("{}: no value, expected {}", name, value.expected());
  }
  if (values.size() > 1 && !value.repeats) {
    return fmt::format("{}: given {} times, expected once", name, values.size());
  }
  const std::optional<std::string> refused = value.store(values);
  if (!refused) return {};
  return fmt::format("{} {}: expected {}{}", name, *refused, value.expected(),
                     did_you_mean(*refused, value.words));
}

/// What is wrong with the options of a command.
std::string store_all(const Words& words) {
  for (const Given& each : words.given()) {
    if (each.uses == 0) continue;
    for (const std::string& other : each.option->excludes) {
      if (words.has(other)) {
        return fmt::format("{}: cannot be combined with {}", each.option->names.back(), other);
      }
    }
  }
  for (const Given& each : words.given()) {
    if (each.uses == 0) continue;
    if (std::string problem = store(each); !problem.empty()) return problem;
  }
  return {};
}

/// What is wrong with the arguments that no option or argument of the command matched.
std::string unmatched(const Program& program, const Command& command,
                      const std::vector<std::string>& extras) {
  const auto option =
      std::ranges::find_if(extras, [](const auto& extra) { return extra.starts_with('-'); });
  if (option != extras.end()) return no_such_option(command, *option);
  if (!command.instead_of_argument.empty()) {
    return fmt::format("'{}': {}", extras.front(), command.instead_of_argument);
  }
  return fmt::format("'{}': unexpected argument, {} accepts {}", extras.front(),
                     full_name(program, command), arguments_of(command).empty() ? "none" : "one");
}

/// What is wrong with the arguments before the command.
std::string before_command(const Program& program, const Command& command, const Words& words,
                           const std::string& argument) {
  if (!argument.starts_with('-')) {
    return command.instead_of_argument.empty() ? no_such_command(program, argument)
                                               : unmatched(program, command, {argument});
  }
  if (!words.knows(name_in(argument))) return no_such_option(command, argument);
  return fmt::format("{}: expected after '{}'", argument, full_name(program, command));
}

void throw_if(const std::string& problem, const std::string& call) {
  if (problem.empty()) return;
  throw UsageError("{}{} try '{} --help'", problem, problem.ends_with('?') ? "" : ";", call);
}

/// Returns the call for "help" and "help COMMAND".
Call help_call(const Program& program, const std::vector<std::string>& arguments) {
  if (arguments.size() == 1) return {&program.itself, Call::Request::help};
  const Command* command = find_by(program.commands, &Command::name, arguments[1]);
  if (command == nullptr) throw_if(no_such_command(program, arguments[1]), program.itself.name);
  return {command, Call::Request::help};
}

/// Parses a size: "65536", "64KiB", "64 kb", "64K"; units are powers of 1024. nullopt: no size, or
/// 2^64 and more.
std::optional<std::uint64_t> bytes_from(std::string_view text) {
  constexpr std::string_view kUnits = "kmgtpe";
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = whole_number<std::uint64_t>(text.substr(0, digits));
  std::string unit(trimmed(text.substr(digits)));
  std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!number || unit.empty() || unit == "b") return number;
  const std::size_t power = kUnits.find(unit.front());
  const std::string_view rest = std::string_view(unit).substr(1);
  if (power == kUnits.npos || (!rest.empty() && rest != "b" && rest != "ib")) return std::nullopt;
  const std::size_t shift = 10 * (power + 1);
  if ((*number << shift) >> shift != *number) return std::nullopt;
  return *number << shift;
}

}  // namespace

Call parse(const Program& program, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return {&program.itself, Call::Request::help};
  if (arguments.front() == "help") return help_call(program, arguments);
  Words own(program.itself);
  const Command* command = nullptr;
  std::size_t next = 0;
  while (next < arguments.size() && command == nullptr) {
    command = find_by(program.commands, &Command::name, arguments[next]);
    next = command == nullptr ? own.take(arguments, next) : next + 1;
  }
  if (own.has(kHelp)) return {&program.itself, Call::Request::help};
  if (own.has(kVersion)) return {&program.itself, Call::Request::version};
  if (command == nullptr) {
    throw_if(own.mismatch(), program.itself.name);
    const std::string& first = own.extras().front();
    throw_if(first.starts_with('-') ? no_such_option(program.itself, first)
                                    : no_such_command(program, first),
             program.itself.name);
  }
  Words words(*command);
  while (next < arguments.size()) next = words.take(arguments, next);
  if (words.has(kHelp)) return {command, Call::Request::help};
  const std::string name = full_name(program, *command);
  if (const Texts& extras = own.extras(); !extras.empty()) {
    throw_if(before_command(program, *command, words, extras.front()), name);
  }
  if (!words.extras().empty()) throw_if(unmatched(program, *command, words.extras()), name);
  throw_if(words.mismatch(), name);
  throw_if(store_all(words), name);
  return {command, Call::Request::run};
}

Value Value::size(std::string name, std::optional<std::uint64_t>& variable) {
  Value value = parsed(std::move(name), variable, bytes_from);
  value.limits = "a size such as 65536 or 64KiB";
  return value;
}

}  // namespace skid::commandline
