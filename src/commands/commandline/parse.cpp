// The only code that includes CLI11, which splits a command line into options, values and
// arguments.
#include "src/commands/commandline/command.h"
#include "src/support/near_names.h"

#include <CLI/CLI.hpp>

namespace skid::commandline {
namespace {

constexpr const char* kHelp = "--help";
constexpr const char* kVersion = "--version";

/// An option with its counterpart in the parser.
struct Declared {
  const Option* option;
  CLI::Option* parsed;
};

std::vector<Declared> declare(CLI::App& app, const Command& command) {
  app.set_help_flag();
  app.allow_extras();
  std::vector<Declared> declared;
  for (const Option& option : command.options) {
    const std::string names = fmt::format("{}", fmt::join(option.names, ","));
    if (option.value.name.empty()) {
      declared.push_back({&option, app.add_flag(names)->disable_flag_override()});
      continue;
    }
    CLI::Option* parsed = app.add_option(names);
    parsed->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (option.value.in_a_row) {
      parsed->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
    }
    declared.push_back({&option, parsed});
  }
  return declared;
}

const Declared* find(const std::vector<Declared>& declared, std::string_view name) {
  const auto found = std::ranges::find_if(
      declared, [name](const auto& each) { return each.option->has_flag(name); });
  return found == declared.end() ? nullptr : &*found;
}

/// `name`: of an option or an argument.
bool is_given(const std::vector<Declared>& declared, std::string_view name) {
  return std::ranges::any_of(declared, [name](const Declared& each) {
    return std::ranges::find(each.option->names, name) != each.option->names.end() &&
           each.parsed->count() > 0;
  });
}

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
  // Every name is near to a single letter.
  return fmt::format("{}: no such option{}", name,
                     name.starts_with("--") ? did_you_mean(name, known) : "");
}

/// The last argument lacks its value, or a flag has one.
std::string mismatch(const std::vector<Declared>& declared, std::string_view parser_message) {
  // "--format: 1 required TEXT missing", "quiet was given a disallowed flag override"
  std::string name(parser_message.substr(0, parser_message.find_first_of(": ")));
  if (!name.starts_with('-')) name.insert(0, name.size() > 1 ? "--" : "-");
  const Declared* found = find(declared, name);
  if (found == nullptr) return std::string(parser_message);
  const Value& value = found->option->value;
  if (value.name.empty()) return fmt::format("{}: has no value", name);
  return fmt::format("{}: no value, expected {}", name, value.expected());
}

Texts values_of(const Declared& declared) {
  const Texts& results = declared.parsed->results();
  if (!declared.option->value.comma_separated) return results;
  Texts values;
  for (const std::string& list : results) {
    for (std::string& value : CLI::detail::split(list, ',')) {
      if (!value.empty()) values.push_back(std::move(value));
    }
  }
  return values;
}

/// Stores the values that were given for an option. Returns what is wrong with them, if anything.
std::string store(const Declared& declared) {
  const Option& option = *declared.option;
  const Value& value = option.value;
  const std::string& name = option.names.back();
  const Texts given = values_of(declared);
  // An unset variable of a script becomes an empty value.
  const bool is_empty = !value.name.empty() && std::ranges::find(given, "") != given.end();
  if (given.empty() || is_empty) {
    return fmt::format("{}: no value, expected {}", name, value.expected());
  }
  if (given.size() > 1 && !value.repeats) {
    return fmt::format("{}: given {} times, expected once", name, given.size());
  }
  try {
    value.store(given);
  } catch (const NotAllowed& refused) {
    return fmt::format("{} {}: expected {}{}", name, refused.value, value.expected(),
                       did_you_mean(refused.value, value.words));
  }
  return {};
}

/// What is wrong with the options of a command.
std::string store_all(const std::vector<Declared>& declared) {
  for (const Declared& each : declared) {
    if (each.parsed->count() == 0) continue;
    for (const std::string& other : each.option->excludes) {
      if (is_given(declared, other)) {
        return fmt::format("{}: cannot be combined with {}", each.option->names.back(), other);
      }
    }
  }
  for (const Declared& each : declared) {
    if (each.parsed->count() == 0) continue;
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
std::string before_command(const Program& program, const Command& command,
                           const std::vector<Declared>& declared, const std::string& argument) {
  if (!argument.starts_with('-')) {
    return command.instead_of_argument.empty() ? no_such_command(program, argument)
                                               : unmatched(program, command, {argument});
  }
  if (find(declared, name_in(argument)) == nullptr) return no_such_option(command, argument);
  return fmt::format("{}: expected after '{}'", argument, full_name(program, command));
}

/// What is wrong with a command line without a command.
std::string without_command(const Program& program, const std::vector<std::string>& extras) {
  return extras.front().starts_with('-') ? no_such_option(program.itself, extras.front())
                                         : no_such_command(program, extras.front());
}

void throw_if(const std::string& problem, const std::string& call) {
  if (problem.empty()) return;
  throw UsageError("{}{} try '{} --help'", problem, problem.ends_with('?') ? "" : ";", call);
}

/// Of "help" and "help COMMAND".
Call help_call(const Program& program, const std::vector<std::string>& arguments) {
  if (arguments.size() == 1) return {&program.itself, Call::Request::help};
  const Command* command = find_by(program.commands, &Command::name, arguments[1]);
  if (command == nullptr) throw_if(no_such_command(program, arguments[1]), program.itself.name);
  return {command, Call::Request::help};
}

}  // namespace

Call parse(const Program& program, const std::vector<std::string>& arguments) {
  if (arguments.empty()) return {&program.itself, Call::Request::help};
  if (arguments.front() == "help") return help_call(program, arguments);
  CLI::App app;
  const std::vector<Declared> own = declare(app, program.itself);
  std::map<const CLI::App*, std::pair<const Command*, std::vector<Declared>>> commands;
  for (const Command& command : program.commands) {
    CLI::App* parser = app.add_subcommand(command.name);
    commands[parser] = {&command, declare(*parser, command)};
  }
  app.require_subcommand(-1);  // at most one: further names are arguments

  std::string parser_message;
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    parser_message = error.what();
  }
  if (is_given(own, kHelp)) return {&program.itself, Call::Request::help};
  if (is_given(own, kVersion)) return {&program.itself, Call::Request::version};
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    throw_if(parser_message.empty() ? without_command(program, app.remaining())
                                    : mismatch(own, parser_message),
             program.itself.name);
  }
  const CLI::App& parser = *chosen.front();
  const auto& [command, declared] = commands.at(&parser);
  if (is_given(declared, kHelp)) return {command, Call::Request::help};
  const std::string name = full_name(program, *command);
  if (const auto extras = app.remaining(); !extras.empty()) {
    throw_if(before_command(program, *command, declared, extras.front()), name);
  }
  auto extras = parser.remaining();
  // The parser keeps the "--" that ends the options.
  if (const auto end = std::ranges::find(extras, "--"); end != extras.end()) extras.erase(end);
  if (!extras.empty()) throw_if(unmatched(program, *command, extras), name);
  if (!parser_message.empty()) throw_if(mismatch(declared, parser_message), name);
  throw_if(store_all(declared), name);
  return {command, Call::Request::run};
}

Value Value::size(std::string name, std::optional<std::uint64_t>& variable) {
  const auto store = [&variable](const Texts& given) {
    std::string bytes = given.back();
    try {
      const CLI::AsSizeValue size(/*kb_is_1000=*/false);
      if (!size(bytes).empty()) throw NotAllowed{given.back()};
    } catch (const CLI::ValidationError&) {  // an unknown unit
      throw NotAllowed{given.back()};
    }
    variable = number_from<std::uint64_t>(bytes);
  };
  return {.name = std::move(name), .limits = "a size such as 65536 or 64KiB", .store = store};
}

}  // namespace skid::commandline
