// The command line as data: the names, values and descriptions of all options, and where the values
// are stored. Parsing, help, manual pages and shell completions all read this one description.
#pragma once

#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commandline {

using Texts = std::vector<std::string>;

/// What a shell completes in place of a value.
enum class Completion { none, words, list, files, directories };  // list: words between commas

/// The element of std::optional and std::vector, else the type itself.
template <typename T>
struct Element {
  using Type = T;
};
template <typename T>
struct Element<std::optional<T>> {
  using Type = T;
};
template <typename T>
struct Element<std::vector<T>> {
  using Type = T;
};

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

/// A decimal number, or for integers a hexadecimal one after 0x.
template <typename T>
std::optional<T> number_from(std::string_view text) {
  if constexpr (std::is_integral_v<T>) {
    if (text.starts_with("0x") || text.starts_with("0X"))
      return whole_number<T>(text.substr(2), 16);
  }
  return whole_number<T>(text);
}

/// A value that is not allowed: thrown by Value::store.
struct NotAllowed {
  std::string value;
};

/// The value of an option: its name, what is allowed, and the variable that receives it. Made by
/// its static functions, which bind a variable. The variable keeps its value if the option is not
/// given; it must live as long as the Value. A std::vector receives the values of all uses of the
/// option; other variables allow one use.
struct Value {
  std::string name = {};    ///< "FILE"; empty: a flag, which has no value
  Texts words = {};         ///< allowed values, or suggestions
  std::string limits = {};  ///< "1 to 1000"; may be empty
  Completion completion = Completion::none;
  /// Words to complete, if there are no `words`. Options before the value are stored when it is
  /// called.
  std::function<Texts()> candidates = {};
  bool is_number = false;
  bool repeats = false;          ///< the option may be given more than once
  bool in_a_row = false;         ///< several values may follow one another
  bool comma_separated = false;  ///< one argument contains several values
  /// Stores all values that were given; throws NotAllowed with the first one that it refuses.
  std::function<void(const Texts&)> store = {};

  static Value flag(bool& variable) {
    return {.repeats = true, .store = [&variable](const Texts&) { variable = true; }};
  }
  /// Texts that `use` converts; it throws UsageError for one that it refuses.
  static Value converted(std::string name, std::function<void(const Texts&)> use) {
    return {.name = std::move(name), .store = std::move(use)};
  }
  template <typename Variable>
  static Value text(std::string name, Variable& variable) {
    return {.name = std::move(name),
            .repeats = kIsVector<Variable>,
            .store = [&variable](const Texts& given) {
              if constexpr (kIsVector<Variable>) {
                variable.assign(given.begin(), given.end());
              } else {
                variable = given.back();
              }
            }};
  }
  template <typename Variable>
  static Value file(std::string name, Variable& variable) {
    return text(std::move(name), variable).completing(Completion::files);
  }
  template <typename Variable>
  static Value directory(Variable& variable) {
    return text("DIR", variable).completing(Completion::directories);
  }
  /// One of `words`, which shells complete.
  static Value one_of(std::string name, std::string& variable, const Texts& words) {
    const auto store = [&variable, words](const Texts& given) {
      if (std::ranges::find(words, given.back()) == words.end()) throw NotAllowed{given.back()};
      variable = given.back();
    };
    return {
        .name = std::move(name), .words = words, .completion = Completion::words, .store = store};
  }
  template <typename Variable, typename Number = typename Element<Variable>::Type>
  static Value number(std::string name, Variable& variable,
                      std::type_identity_t<Number> least = std::numeric_limits<Number>::lowest(),
                      std::type_identity_t<Number> most = std::numeric_limits<Number>::max());
  /// Bytes, with or without a unit: "64MiB".
  static Value size(std::string name, std::optional<std::uint64_t>& variable);

  /// Several values may follow one another: INPUT...
  Value several() && {
    in_a_row = true;
    return std::move(*this);
  }
  /// Commas separate values: none,p,pp.
  Value separated() && {
    comma_separated = repeats = true;
    return std::move(*this);
  }
  Value completing(Completion with) && {
    completion = with;
    return std::move(*this);
  }
  Value completing(std::function<Texts()> with, Completion as = Completion::words) && {
    candidates = std::move(with);
    return std::move(*this).completing(as);
  }
  /// Words that help and completions show; other values are allowed, too.
  Value suggesting(Texts suggestions) && {
    words = std::move(suggestions);
    return std::move(*this).completing(Completion::words);
  }

  /// The allowed values, for messages: "text, json, csv", "1 to 1000", "a number", "FILE".
  std::string expected() const {
    if (!words.empty()) return fmt::format("{}", fmt::join(words, ", "));
    if (!limits.empty()) return limits;
    return is_number ? "a number" : name;
  }
};

template <typename Variable, typename Number>
Value Value::number(std::string name, Variable& variable, std::type_identity_t<Number> least,
                    std::type_identity_t<Number> most) {
  std::string limits;
  if (most != std::numeric_limits<Number>::max()) {
    limits = fmt::format("{} to {}", least, most);
  } else if (least != std::numeric_limits<Number>::lowest()) {
    limits = fmt::format("{} or more", least);
  }
  const auto store = [&variable, least, most](const Texts& given) {
    if constexpr (kIsVector<Variable>) variable.clear();
    for (const std::string& text : given) {
      const std::optional<Number> number = number_from<Number>(text);
      // A NaN is not within any limits.
      if (!number || !(*number >= least && *number <= most)) throw NotAllowed{text};
      if constexpr (kIsVector<Variable>) {
        variable.push_back(*number);
      } else {
        variable = *number;
      }
    }
  };
  return {.name = std::move(name),
          .limits = std::move(limits),
          .is_number = true,
          .repeats = kIsVector<Variable>,
          .store = store};
}

struct Option {
  /// `all_names`: "INPUT,-i,--input"; one without a dash makes it a positional argument, too.
  Option(std::string_view all_names, Value of, std::string text, Texts excluded = {})
      : value(std::move(of)), description(std::move(text)), excludes(std::move(excluded)) {
    while (!all_names.empty()) names.emplace_back(take_until(',', all_names));
  }

  Texts names;
  Value value;
  std::string description;
  Texts excludes;  ///< names of options and arguments that it cannot be combined with

  /// The names with dashes, "-i" and "--input".
  Texts flags() const {
    Texts found = names;
    std::erase_if(found, [](const std::string& name) { return !name.starts_with('-'); });
    return found;
  }
  /// Whether `name` is one of these.
  bool has_flag(std::string_view name) const {
    return name.starts_with('-') && std::ranges::find(names, name) != names.end();
  }
  /// The name without dashes; empty if it is no positional argument.
  std::string argument() const {
    const auto found =
        std::ranges::find_if(names, [](const auto& name) { return !name.starts_with('-'); });
    return found == names.end() ? std::string() : *found;
  }
};

struct Command {
  std::string name;  ///< "report"; of the program "skidscan"
  std::string description;
  std::vector<Option> options;
  std::vector<std::string> notes = {};  ///< paragraphs
  /// The exit statuses whose meaning is specific to the command; `all_exit_statuses` adds the
  /// general ones.
  std::map<ExitStatus, std::string> exit_statuses = {};
  /// Lines for bash that work in this order in an empty directory.
  std::vector<std::string> examples = {};
  std::function<ExitStatus()> run = {};
  /// An alternative to an argument, for a command that takes none; may be empty.
  std::string instead_of_argument = {};

  /// Itself with the options of all `lists` after its own.
  Command with(const std::same_as<std::vector<Option>> auto&... lists) && {
    (options.insert(options.end(), lists.begin(), lists.end()), ...);
    return std::move(*this);
  }
};

struct Program {
  Command itself;  ///< options without a command
  std::string version;
  std::vector<Command> commands;
};

/// -h, --help: parsing recognizes it in every command.
inline Option help_option() {
  return {"-h,--help", {}, "print this help and exit"};
}
/// -V, --version of the program.
inline Option version_option() {
  return {"-V,--version", {}, "print the version and exit"};
}

/// The exit statuses of a command with their meaning.
inline std::map<ExitStatus, std::string> all_exit_statuses(const Command& command) {
  auto statuses = command.exit_statuses;
  statuses.try_emplace(ExitStatus::done, "success");
  statuses.try_emplace(ExitStatus::failed, "failure; a message states the reason");
  statuses.try_emplace(ExitStatus::usage, "wrong usage");
  return statuses;
}

/// "skidscan report"; of the program itself "skidscan".
inline std::string full_name(const Program& program, const Command& command) {
  if (&command == &program.itself) return program.itself.name;
  return program.itself.name + " " + command.name;
}

/// The request of a command line.
struct Call {
  enum class Request { run, help, version };
  const Command* command;  ///< part of the program that was passed to `parse`
  Request request;
};

/// Parses the arguments after the program's name and stores the values of the chosen command's
/// options. Throws UsageError for a wrong command line:
/// "--format xml: expected text, json, csv; try 'skidscan report --help'".
Call parse(const Program& program, const std::vector<std::string>& arguments);

// The texts made from this description: help, of which manual pages are made, and completions.

/// The help of a command, or of the program itself, in lines of at most `width` columns. Examples
/// are not wrapped.
std::string help_text(const Program& program, const Command& command, std::size_t width);

/// What shells offer in place of the last of `words`, which follow the program's name: a line
/// "files" or "directories", or a line "words" and a line for each, with its description after a
/// tab. Throws what candidates throw. The scripts in completion/ call the program as 'skidscan
/// complete WORD...', which prints it.
std::string completions(const Program& program, Texts words);

// The parts that these texts share.

/// "[OPTIONS] [INPUT...]": what follows the name of a command.
std::string usage_of(const Program& program, const Command& command);

/// The positional arguments of a command.
std::vector<const Option*> arguments_of(const Command& command);

/// "-o FILE", "--format text|json": the names of an option and its value. Long lists of words are
/// left to `remarks_of`.
std::string spelling_of(const Option& option);
/// The value alone: "text|json", "INPUT..."; empty for flags.
std::string spelling_of(const Value& value);

/// Limits of an option: "one of load, store", "1 to 1000", "not with --samples".
std::vector<std::string> remarks_of(const Command& command, const Option& option);

}  // namespace skid::commandline
