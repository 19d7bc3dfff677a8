#include "src/commands/usage_message.h"

#include "src/support/near_names.h"
#include "src/words/manual.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::commands {
namespace {

/// "; did you mean record?" where a name is near; empty where none is.
std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t kMost = 3;
  std::map<std::string, std::uint64_t> names;
  for (const std::string& each : known) names.emplace(each, 0);
  const auto near = near_names(name, names, kMost);
  return near.empty() ? std::string() : fmt::format("; did you mean {}?", fmt::join(near, ", "));
}

std::vector<std::string> option_names(const words::Command& command) {
  std::vector<std::string> names;
  for (const words::Option& option : command.options) names.push_back(option.names.back());
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands({})) names.push_back(each->get_name());
  return names;
}

bool has_option(const words::Command& command, const std::string& name) {
  return std::any_of(command.options.begin(), command.options.end(), [&](const auto& option) {
    return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
  });
}

/// Arguments that nothing takes: an option that does not exist goes before what stands behind it.
std::string of_extras(const std::string& call, const words::Command& command,
                      const std::vector<std::string>& extras) {
  const auto option = std::find_if(extras.begin(), extras.end(),
                                   [](const auto& extra) { return extra.starts_with('-'); });
  if (option != extras.end()) {
    const std::string name = option->substr(0, option->find('='));
    // Of a single letter every name is near.
    return fmt::format("{}: no such option{}", name,
                       name.starts_with("--") ? suggestion(name, option_names(command)) : "");
  }
  return fmt::format("'{}': {} takes {}", extras.front(), call,
                     command.arguments.empty() ? "no argument" : "one argument");
}

/// What an option takes, for "allowed …".
std::string allowed_by(const words::Value& value) {
  if (!value.words.empty()) return fmt::format("{}", fmt::join(value.words, ", "));
  if (!value.limits.empty()) return value.limits;
  return value.name;
}

/// A value that is none of the option's, or too many of them.
std::string of_value(const CLI::App& chosen, const words::Option& option, const std::string& name,
                     const CLI::ParseError& error) {
  const auto* parsed = chosen.get_option_no_throw(name);
  std::vector<std::string> given;
  if (parsed != nullptr) given = parsed->results();
  std::erase(given, "");
  // The values of an option that was given more than once stand in one list.
  const bool lacks_one = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr &&
                         std::string_view(error.what()).ends_with(" missing");
  if (given.empty() || lacks_one)
    return fmt::format("{}: found no value, allowed {}", name, allowed_by(option.value));
  const bool is_one = parsed->get_items_expected_max() <= 1;
  if (is_one && given.size() > 1)
    return fmt::format("{}: given {} times, allowed once", name, given.size());
  const bool is_number = option.value.words.empty() && option.value.limits.empty();
  return fmt::format("{}: found {}, allowed {}", name, fmt::join(given, ","),
                     is_number ? "a number" : allowed_by(option.value));
}

/// The option that a message of the parser speaks of; null where it names none.
const words::Option* option_named_in(const std::string& text, const words::Command& command,
                                     std::string& name) {
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 1)) {
    if (at > 0 && text[at - 1] != ' ') continue;
    const std::size_t end = text.find_first_of(" :,=", at);
    name = text.substr(at, end - at);
    for (const words::Option& option : command.options) {
      if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) {
        return &option;
      }
    }
  }
  return nullptr;
}

/// The parser's own sentence, which begins with a capital where ours do not.
std::string as_it_is(std::string text) {
  if (!text.empty()) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string message_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto commands = app.get_subcommands();
  if (commands.empty()) {
    const auto extras = app.remaining();
    const std::vector<std::string> names = command_names(app);
    if (extras.empty())
      return fmt::format("no command is named, allowed {}", fmt::join(names, ", "));
    if (extras.front().starts_with('-')) return of_extras("", words::read_command(app), extras);
    return fmt::format("'{}' is no command{}", extras.front(), suggestion(extras.front(), names));
  }
  const CLI::App& chosen = *commands.front();
  const words::Command command = words::read_command(chosen);
  const std::string call = app.get_name() + " " + chosen.get_name();
  if (const auto before = app.remaining(); !before.empty()) {
    const std::string& found = before.front();
    if (!found.starts_with('-')) {
      return fmt::format("'{}' is no command{}", found, suggestion(found, command_names(app)));
    }
    if (!has_option(command, found.substr(0, found.find('=')))) {
      return of_extras(call, command, before);
    }
    return fmt::format("{}: found in front of the command, allowed behind '{}'", before.front(),
                       call);
  }
  const auto extras = chosen.remaining();
  if (!extras.empty()) {
    return of_extras(call, command, extras);
  }
  const std::string text = error.what();
  std::string name;
  const words::Option* option = option_named_in(text, command, name);
  if (option == nullptr) return as_it_is(text);
  if (const auto* excludes = dynamic_cast<const CLI::ExcludesError*>(&error)) {
    constexpr std::string_view kVerb = " excludes ";
    const std::string both = excludes->what();
    const std::size_t at = both.find(kVerb);
    if (at == std::string::npos) return as_it_is(text);
    return fmt::format("{}: not together with {}", both.substr(0, at),
                       both.substr(at + kVerb.size()));
  }
  return of_value(chosen, *option, name, error);
}

}  // namespace

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const auto commands = app.get_subcommands();
  const std::string call =
      commands.empty() ? app.get_name() : app.get_name() + " " + commands.front()->get_name();
  const std::string message = message_of(app, error);
  return fmt::format("{}{} try '{} --help'", message, message.ends_with('?') ? "" : ";", call);
}

}  // namespace skid::commands
